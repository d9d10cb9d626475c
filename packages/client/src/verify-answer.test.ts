import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifyBody, verifyDetached, verifyUrl } from './index.ts';
import { BASE_URL, detached, PATHS, serviceOf, vector } from './test/service.ts';

const answer = vector('answer.json');
const answerUrl = BASE_URL + PATHS.answer;
const { fetch } = serviceOf();

describe('an answer fetched by URL', () => {
  it('verifies, and the key goes to the answer only', async () => {
    const { fetch, requests } = serviceOf();
    const result = await verifyUrl(answerUrl, { fetch, key: 'ssk_1' });
    assert.ok(result.ok, JSON.stringify(result.steps));
    assert.deepEqual(result.answer, JSON.parse(answer));
    assert.deepEqual(
      requests.map(({ url }) => new URL(url).pathname),
      [PATHS.answer, PATHS.keySet, PATHS.ledgerReceipt],
    );
    assert.deepEqual(
      requests.map(({ headers }) => headers.get('x-stack-key')),
      ['ssk_1', null, null],
    );
    assert.ok(requests.every(({ redirect }) => redirect === 'error'));
  });

  it('verifies when it is CSV with its receipt in a header', async () => {
    const result = await verifyUrl(BASE_URL + PATHS.csv, { fetch });
    assert.ok(result.ok, JSON.stringify(result.steps));
    const altered = serviceOf({
      [PATHS.csv]: {
        body: detached.content.replace('80', '90'),
        headers: { 'content-type': detached.content_type, 'stack-provenance': JSON.stringify(detached.provenance) },
      },
    });
    assert.equal((await verifyUrl(BASE_URL + PATHS.csv, altered)).failedStep, 'signature');
  });

  it('verifies when it is a problem, whatever its status', async () => {
    const service = serviceOf({ [PATHS.answer]: { body: answer, status: 404 } });
    assert.ok((await verifyUrl(answerUrl, service)).ok);
  });

  const failures = [
    {
      why: 'the answer is altered',
      step: 'signature',
      pages: { [PATHS.answer]: { body: answer.replace('Cloudflare', 'cloudflare') } },
    },
    {
      why: 'the answer names a member twice',
      step: 'content',
      pages: { [PATHS.answer]: { body: answer.replace('{', '{"domain":"example.org",') } },
    },
    { why: 'the answer is not JSON', step: 'content', pages: { [PATHS.answer]: { body: '<html>' } } },
    { why: 'the answer has no receipt', step: 'content', pages: { [PATHS.answer]: { body: '{}' } } },
    {
      why: 'the header is not JSON',
      step: 'content',
      pages: { [PATHS.csv]: { body: '', headers: { 'stack-provenance': '{' } } },
      path: PATHS.csv,
    },
    { why: 'the key set is missing', step: 'key', pages: { [PATHS.keySet]: { body: '', status: 404 } } },
    { why: 'the key set is not JSON', step: 'key', pages: { [PATHS.keySet]: { body: 'no' } } },
    { why: 'the key set is endless', step: 'key', pages: { [PATHS.keySet]: { body: ' '.repeat(1_048_577) } } },
    {
      why: 'the answer points to keys elsewhere',
      step: 'key',
      pages: { [PATHS.answer]: { body: answer.replace('"/.well-known', '"https://evil.test/.well-known') } },
    },
    {
      why: 'the answer points to keys of another host without a scheme',
      step: 'key',
      pages: { [PATHS.answer]: { body: answer.replace('"/.well-known', '"//evil.test/.well-known') } },
    },
    {
      why: 'the ledger does not know the leaf',
      step: 'leaf',
      pages: { [PATHS.ledgerReceipt]: { body: '{}', status: 404 } },
    },
    { why: 'the ledger answers nonsense', step: 'leaf', pages: { [PATHS.ledgerReceipt]: { body: '[[[]]]' } } },
    {
      why: 'the proof is altered',
      step: 'inclusion',
      pages: { [PATHS.ledgerReceipt]: { body: vector('ledger-receipt.json').replace('gxF', 'gxG') } },
    },
    {
      why: 'the checkpoint is altered',
      step: 'checkpoint',
      pages: { [PATHS.ledgerReceipt]: { body: vector('ledger-receipt.json').replace('Mf7OnOo1', 'Mf7OnOo2') } },
    },
  ] as const;
  for (const { why, step, pages, ...rest } of failures) {
    it(`fails at the ${step} when ${why}`, async () => {
      const path = 'path' in rest ? rest.path : PATHS.answer;
      const result = await verifyUrl(BASE_URL + path, serviceOf(pages));
      assert.equal(result.failedStep, step, JSON.stringify(result.steps));
    });
  }

  it('fails at the content when there is no connection or no address', async () => {
    const offline = async () => Promise.reject(new TypeError('fetch failed'));
    assert.equal((await verifyUrl(answerUrl, { fetch: offline })).failedStep, 'content');
    for (const url of ['', 'strata.test', 'file:///etc/passwd']) {
      assert.equal((await verifyUrl(url, { fetch })).failedStep, 'content');
    }
  });

  it('stops when told to', async () => {
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await assert.rejects(verifyUrl(answerUrl, { fetch, signal: stop.signal }), /enough/);
  });

  it('trusts a ledger key given in place of the published one', async () => {
    const [published = ''] = (JSON.parse(vector('key-set.json')) as { ledger: { verifier_keys: string[] } }).ledger
      .verifier_keys;
    assert.ok((await verifyUrl(answerUrl, { fetch, ledgerKey: published })).ok);
    const result = await verifyUrl(answerUrl, { fetch, ledgerKey: 'other+00000000+AAAA' });
    assert.equal(result.failedStep, 'checkpoint');
  });
});

describe('a saved answer', () => {
  it('verifies as bytes, as text and as a value, pretty-printed or not', async () => {
    const value: unknown = JSON.parse(answer);
    for (const body of [answer, JSON.stringify(value), new TextEncoder().encode(answer), value]) {
      const result = await verifyBody(body, { baseUrl: BASE_URL, fetch });
      assert.ok(result.ok, JSON.stringify(result.steps));
    }
  });

  it('fails at the content for anything that is not an answer', async () => {
    for (const body of ['', 'null', '[]', Uint8Array.of(0xff), undefined, 7, { provenance: {} }]) {
      assert.equal((await verifyBody(body, { baseUrl: BASE_URL, fetch })).failedStep, 'content');
    }
    assert.equal((await verifyBody(answer, { baseUrl: 'nowhere', fetch })).failedStep, 'key');
  });

  it('verifies detached bytes with the header kept beside them', async () => {
    const input = {
      content: new TextEncoder().encode(detached.content),
      contentType: detached.content_type,
      provenance: JSON.stringify(detached.provenance),
    };
    assert.ok((await verifyDetached(input, { baseUrl: BASE_URL, fetch })).ok);
    assert.equal(
      (await verifyDetached({ ...input, contentType: 'text/csv' }, { baseUrl: BASE_URL, fetch })).failedStep,
      'signature',
    );
  });
});
