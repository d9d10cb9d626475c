// Errors that verify, and checks that could not be made, are told from answers and from receipts that do not hold.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verifyBody, verifyUrl } from './index.ts';
import { type HttpServer, startHttpServer } from './test/http-server.ts';
import { BASE_URL, PATHS, serviceOf, vector } from './test/service.ts';

const answer = vector('answer.json');
const answerUrl = BASE_URL + PATHS.answer;
const problem = { type: '/problems/invalid_key', title: 'The key is not valid', status: 401, code: 'invalid_key' };

describe('an answer that is an error', () => {
  it('is told by the status of the response, and better by the problem in the body', async () => {
    const failing = serviceOf({ [PATHS.answer]: { body: answer, status: 404 } });
    const held = await verifyUrl(answerUrl, failing);
    assert.deepEqual([held.ok, held.problem], [true, { status: 404 }]);
    const body = JSON.stringify({ ...problem, detail: 'No such key.' });
    const refused = await verifyUrl(answerUrl, serviceOf({ [PATHS.answer]: { body, status: 401 } }));
    assert.deepEqual(refused.problem, { status: 401, code: 'invalid_key', detail: 'No such key.' });
    assert.equal(refused.ok, false);
  });

  it('is told of a saved body too', async () => {
    const { fetch } = serviceOf();
    const saved = await verifyBody(JSON.stringify(problem), { baseUrl: BASE_URL, fetch });
    assert.deepEqual(saved.problem, { status: 401, code: 'invalid_key' });
  });

  it('is not a good answer, nor one that has a status of another kind', async () => {
    const { fetch } = serviceOf();
    assert.equal((await verifyUrl(answerUrl, { fetch })).problem, undefined);
    for (const status of ['ok', 200, 404.5, 1e9, null]) {
      const saved = await verifyBody({ ...problem, status }, { baseUrl: BASE_URL, fetch });
      assert.equal(saved.problem, undefined, String(status));
    }
  });
});

describe('a check that could not be made', () => {
  let server: HttpServer;
  let base = '';
  before(async () => {
    server = await startHttpServer((request, response) => {
      const stream = { 'content-type': 'text/event-stream' };
      if (request.url === '/moved') response.writeHead(302, { location: '/health' }).end();
      else if (request.url === '/stream') response.writeHead(200, stream).write(':\n\n');
      else if (request.url === '/cut') request.socket.destroy();
      else response.end('<html>');
    });
    base = server.baseUrl;
  });
  after(() => server[Symbol.asyncDispose]());

  it('says what kept the answer from being fetched', async () => {
    const gone = await startHttpServer(() => {});
    await gone[Symbol.asyncDispose]();
    const cases: [url: string, reason: RegExp][] = [
      [gone.baseUrl, /cannot be reached: nothing listens there/],
      ['http://no-such-host.invalid/', /cannot be reached: (?:the host name is unknown|DNS does not answer)/],
      [`${base}/cut`, /cannot be reached: the connection broke off/],
      [`${base}/moved`, /it redirects, which is not followed/],
      [`${base.replace('http', 'https')}/`, /does not speak TLS/],
      [`${base}/stream`, /is a stream without an end/],
      ['strata.test', /is not a web address/],
    ];
    for (const [url, reason] of cases) {
      const { ok, unchecked } = await verifyUrl(url);
      assert.deepEqual([ok, unchecked?.kind], [false, 'not-fetched'], url);
      assert.match(unchecked?.detail ?? '', reason);
    }
  });

  it('says so when the keys or the ledger cannot be reached, and does not say it when they answer', async () => {
    const { fetch } = serviceOf();
    for (const [path, step] of [
      [PATHS.keySet, 'key'],
      [PATHS.ledgerReceipt, 'leaf'],
    ] as const) {
      const partly: typeof globalThis.fetch = async (input, init) => {
        if (String(input).endsWith(path)) throw new TypeError('fetch failed');
        return fetch(input, init);
      };
      const result = await verifyBody(answer, { baseUrl: BASE_URL, fetch: partly });
      assert.deepEqual([result.ok, result.failedStep, result.unchecked?.kind], [false, step, 'not-fetched']);
      const missing = serviceOf({ [path]: { body: '{}', status: 404 } });
      assert.equal((await verifyBody(answer, { baseUrl: BASE_URL, fetch: missing.fetch })).unchecked, undefined);
    }
  });

  it('says what is there in place of an answer with a receipt', async () => {
    assert.equal((await verifyUrl(`${base}/`)).unchecked?.kind, 'not-json');
    const { fetch } = serviceOf();
    const against = { baseUrl: BASE_URL, fetch };
    assert.equal((await verifyBody('{}', against)).unchecked?.kind, 'no-receipt');
    assert.equal((await verifyBody('domain,score', against)).unchecked?.kind, 'not-json');
    assert.equal((await verifyBody('{"a":1,"a":2}', against)).unchecked, undefined);
  });
});
