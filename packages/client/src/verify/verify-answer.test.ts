// Verification of answers by the client: fetched, saved, altered.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { verifyBody, verifyDetached, verifyUrl } from '../index.ts';
import { STREAM, startHttpServer } from '../test/http-server.ts';
import { BASE_URL, detached, GOOD_PAGES, PATHS, serviceOf, vector } from '../test/service.ts';

const answer = vector('answer.json');
const answerUrl = BASE_URL + PATHS.answer;
const { fetch } = serviceOf();
const against = { baseUrl: BASE_URL, fetch };

it('an answer fetched by URL verifies, and sends the key only with the request for the answer', async () => {
  const { fetch, requests } = serviceOf();
  const result = await verifyUrl(answerUrl, { fetch, key: 'ssk_1' });
  assert.ok(result.ok, JSON.stringify(result.steps));
  assert.deepEqual([result.answer, result.problem], [JSON.parse(answer), undefined]);
  const sent = requests.map(({ url, headers }) => `${new URL(url).pathname} ${headers.get('x-stack-key')}`);
  assert.deepEqual(sent, [`${PATHS.answer} ssk_1`, `${PATHS.keySet} null`, `${PATHS.ledgerReceipt} null`]);
  assert.ok(requests.every(({ redirect }) => redirect === 'error'));
});

it('an answer fetched by URL verifies when it is CSV with its receipt in a header', async () => {
  const result = await verifyUrl(BASE_URL + PATHS.csv, { fetch });
  assert.ok(result.ok, JSON.stringify(result.steps));
  const body = detached.content.replace('80', '90');
  const altered = serviceOf({ [PATHS.csv]: { ...GOOD_PAGES[PATHS.csv], body } });
  assert.equal((await verifyUrl(BASE_URL + PATHS.csv, altered)).failedStep, 'signature');
});

const broken = { 'content-type': 'text/csv', 'stack-provenance': '{' };
const answerWith = (from: string, to: string) => ({ [PATHS.answer]: { body: answer.replace(from, to) } });
const keySet = (body: string) => ({ [PATHS.keySet]: { body } });
for (const [why, step, pages] of [
  ['the answer is altered', 'signature', answerWith('Cloudflare', 'cloudflare')],
  ['the answer names a member twice', 'content', answerWith('{', '{"domain":"example.org",')],
  ['the header is not JSON', 'content', { [PATHS.answer]: { body: '', headers: broken } }],
  ['the key set is not JSON', 'key', keySet('no')],
  ['the key set is endless', 'key', keySet(' '.repeat(1_048_577))],
  ['the keys are elsewhere', 'key', answerWith('"/.well-known', '"https://evil.test/.well-known')],
  ['the keys are at another host, without a scheme', 'key', answerWith('"/.well-known', '"//evil.test/.well-known')],
] as const)
  it(`an answer fetched by URL fails at the ${step} when ${why}`, async () => {
    const result = await verifyUrl(answerUrl, serviceOf(pages));
    assert.equal(result.failedStep, step, JSON.stringify(result.steps));
  });

it('an answer fetched by URL stops on abort', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(verifyUrl(answerUrl, { fetch, signal }), /enough/);
});

it('a saved answer verifies as bytes, as text and as a value, pretty-printed or not', async () => {
  const value: unknown = JSON.parse(answer);
  for (const body of [answer, JSON.stringify(value), new TextEncoder().encode(answer), value]) {
    const { ok, steps } = await verifyBody(body, against);
    assert.ok(ok, JSON.stringify(steps));
  }
});

it('a saved answer fails at the content for anything that is not an answer, with its kind', async () => {
  for (const [kind, bodies] of Object.entries({
    'not-json': ['', 'domain,score', Uint8Array.of(0xff)],
    'no-receipt': ['null', '[]', '{}', undefined, 7, { provenance: {} }],
    undefined: ['{"a":1,"a":2}'],
  }))
    for (const body of bodies) {
      const { failedStep, unchecked } = await verifyBody(body, against);
      assert.deepEqual([failedStep, String(unchecked?.kind)], ['content', kind]);
    }
  assert.equal((await verifyBody(answer, { baseUrl: 'nowhere', fetch })).failedStep, 'key');
});

it('a saved answer verifies detached bytes with their saved header', async () => {
  const { content, content_type: contentType, provenance } = detached;
  const input = { content: new TextEncoder().encode(content), contentType, provenance: JSON.stringify(provenance) };
  assert.ok((await verifyDetached(input, against)).ok);
  assert.equal((await verifyDetached({ ...input, contentType: 'text/csv' }, against)).failedStep, 'signature');
});

it('an answer that is an error is recognised by the status of the response, and by a problem in its body', async () => {
  const problem = { type: '/problems/invalid_key', title: 'The key is not valid', status: 401, code: 'invalid_key' };
  const held = await verifyUrl(answerUrl, serviceOf({ [PATHS.answer]: { body: answer, status: 404 } }));
  assert.deepEqual([held.ok, held.problem], [true, { status: 404 }]);
  const detail = 'No such key.';
  const body = JSON.stringify({ ...problem, detail });
  const refused = await verifyUrl(answerUrl, serviceOf({ [PATHS.answer]: { body, status: 401 } }));
  assert.deepEqual([refused.ok, refused.problem], [false, { status: 401, code: 'invalid_key', detail }]);
  const saved = await verifyBody(JSON.stringify(problem), against);
  assert.deepEqual(saved.problem, { status: 401, code: 'invalid_key' });
  for (const status of ['ok', 200, 404.5, 1e9, null])
    assert.equal((await verifyBody({ ...problem, status }, against)).problem, undefined, String(status));
});

it('a verification that could not be completed reports why the answer could not be fetched', async () => {
  await using server = await startHttpServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/health' }).end();
    else if (request.url === '/stream') response.writeHead(200, STREAM).write(':\n\n');
    else if (request.url === '/cut') request.socket.destroy();
    else response.end('<html>');
  });
  const base = server.baseUrl;
  const offline = await startHttpServer(() => {});
  await offline[Symbol.asyncDispose]();
  for (const [url, reason] of [
    [offline.baseUrl, /cannot be reached: nothing listens there/],
    ['http://no-such-host.invalid/', /cannot be reached: (?:the host name is unknown|DNS does not answer)/],
    [`${base}/cut`, /cannot be reached: the connection broke off/],
    [`${base}/moved`, /redirects are not followed/],
    [`${base.replace('http', 'https')}/`, /does not speak TLS/],
    [`${base}/stream`, /is an endless stream/],
    ...['strata.test', '', 'file:///etc/passwd'].map((url) => [url, /is not a web address/] as const),
  ] as const) {
    const { ok, unchecked, failedStep } = await verifyUrl(url);
    assert.deepEqual([ok, unchecked?.kind, failedStep], [false, 'not-fetched', 'content'], url);
    assert.match(unchecked?.detail ?? '', reason);
  }
  assert.equal((await verifyUrl(`${base}/`)).unchecked?.kind, 'not-json');
});

it('a verification that could not be completed is reported where the keys or the ledger cannot be reached, but not where they answer with an error', async () => {
  for (const [path, step] of Object.entries({ [PATHS.keySet]: 'key', [PATHS.ledgerReceipt]: 'leaf' })) {
    const partly: typeof globalThis.fetch = (input, init) =>
      String(input).endsWith(path) ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    const result = await verifyBody(answer, { ...against, fetch: partly });
    assert.deepEqual([result.ok, result.failedStep, result.unchecked?.kind], [false, step, 'not-fetched']);
    const missing = await verifyUrl(answerUrl, serviceOf({ [path]: { body: '{}', status: 404 } }));
    assert.deepEqual([missing.failedStep, missing.unchecked], [step, undefined]);
  }
});
