// Errors that verify, and checks that could not be made, are known from answers and from receipts that do not hold.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verifyBody, verifyUrl } from './index.ts';
import { type HttpServer, STREAM, startHttpServer } from './test/http-server.ts';
import { BASE_URL, PATHS, serviceOf, vector } from './test/service.ts';

const answer = vector('answer.json');
const answerUrl = BASE_URL + PATHS.answer;
const problem = { type: '/problems/invalid_key', title: 'The key is not valid', status: 401, code: 'invalid_key' };
const { fetch } = serviceOf();
const verifySaved = (body: unknown, ask = fetch) => verifyBody(body, { baseUrl: BASE_URL, fetch: ask });

describe('an answer that is an error', () => {
  it('is known by the status of the response, and better by the problem in the body', async () => {
    const failing = serviceOf({ [PATHS.answer]: { body: answer, status: 404 } });
    const held = await verifyUrl(answerUrl, failing);
    assert.deepEqual([held.ok, held.problem], [true, { status: 404 }]);
    const body = JSON.stringify({ ...problem, detail: 'No such key.' });
    const refused = await verifyUrl(answerUrl, serviceOf({ [PATHS.answer]: { body, status: 401 } }));
    assert.deepEqual(refused.problem, { status: 401, code: 'invalid_key', detail: 'No such key.' });
    assert.equal(refused.ok, false);
    assert.deepEqual((await verifySaved(JSON.stringify(problem))).problem, { status: 401, code: 'invalid_key' });
  });

  it('is not a good answer, nor one that has a status of another kind', async () => {
    assert.equal((await verifyUrl(answerUrl, { fetch })).problem, undefined);
    for (const status of ['ok', 200, 404.5, 1e9, null])
      assert.equal((await verifySaved({ ...problem, status })).problem, undefined, String(status));
  });
});

describe('a check that could not be made', () => {
  let server: HttpServer;
  let base = '';
  before(async () => {
    server = await startHttpServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/health' }).end();
      else if (request.url === '/stream') response.writeHead(200, STREAM).write(':\n\n');
      else if (request.url === '/cut') request.socket.destroy();
      else response.end('<html>');
    });
    base = server.baseUrl;
  });
  after(() => server[Symbol.asyncDispose]());

  it('says what kept the answer from being fetched', async () => {
    const gone = await startHttpServer(() => {});
    await gone[Symbol.asyncDispose]();
    for (const [url, reason] of [
      [gone.baseUrl, /cannot be reached: nothing listens there/],
      ['http://no-such-host.invalid/', /cannot be reached: (?:the host name is unknown|DNS does not answer)/],
      [`${base}/cut`, /cannot be reached: the connection broke off/],
      [`${base}/moved`, /it redirects, which is not followed/],
      [`${base.replace('http', 'https')}/`, /does not speak TLS/],
      [`${base}/stream`, /is a stream without an end/],
      ...['strata.test', '', 'file:///etc/passwd'].map((url) => [url, /is not a web address/] as const),
    ] as const) {
      const { ok, unchecked, failedStep } = await verifyUrl(url);
      assert.deepEqual([ok, unchecked?.kind, failedStep], [false, 'not-fetched', 'content'], url);
      assert.match(unchecked?.detail ?? '', reason);
    }
  });

  it('says so when the keys or the ledger cannot be reached, and does not say it when they answer', async () => {
    for (const [path, step] of [
      [PATHS.keySet, 'key'],
      [PATHS.ledgerReceipt, 'leaf'],
    ] as const) {
      const partly: typeof globalThis.fetch = (input, init) =>
        String(input).endsWith(path) ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
      const result = await verifySaved(answer, partly);
      assert.deepEqual([result.ok, result.failedStep, result.unchecked?.kind], [false, step, 'not-fetched']);
      const missing = serviceOf({ [path]: { body: '{}', status: 404 } });
      assert.equal((await verifySaved(answer, missing.fetch)).unchecked, undefined);
    }
  });

  it('says what is there in place of an answer with a receipt', async () => {
    assert.equal((await verifyUrl(`${base}/`)).unchecked?.kind, 'not-json');
    const kinds = { '{}': 'no-receipt', 'domain,score': 'not-json', '{"a":1,"a":2}': undefined };
    for (const [body, kind] of Object.entries(kinds)) assert.equal((await verifySaved(body)).unchecked?.kind, kind);
  });
});
