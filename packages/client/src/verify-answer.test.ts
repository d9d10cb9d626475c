import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifyBody, verifyDetached, verifyUrl } from './index.ts';
import { BASE_URL, detached, GOOD_PAGES, PATHS, serviceOf, vector } from './test/service.ts';

const answer = vector('answer.json');
const answerUrl = BASE_URL + PATHS.answer;
const { fetch } = serviceOf();
const against = { baseUrl: BASE_URL, fetch };

describe('an answer fetched by URL', () => {
  it('verifies, and the key goes to the answer only', async () => {
    const { fetch, requests } = serviceOf();
    const result = await verifyUrl(answerUrl, { fetch, key: 'ssk_1' });
    assert.ok(result.ok, JSON.stringify(result.steps));
    assert.deepEqual(result.answer, JSON.parse(answer));
    const sent = requests.map(({ url, headers }) => `${new URL(url).pathname} ${headers.get('x-stack-key')}`);
    assert.deepEqual(sent, [`${PATHS.answer} ssk_1`, `${PATHS.keySet} null`, `${PATHS.ledgerReceipt} null`]);
    assert.ok(requests.every(({ redirect }) => redirect === 'error'));
  });

  it('verifies when it is CSV with its receipt in a header', async () => {
    const result = await verifyUrl(BASE_URL + PATHS.csv, { fetch });
    assert.ok(result.ok, JSON.stringify(result.steps));
    const body = detached.content.replace('80', '90');
    const altered = serviceOf({ [PATHS.csv]: { ...GOOD_PAGES[PATHS.csv], body } });
    assert.equal((await verifyUrl(BASE_URL + PATHS.csv, altered)).failedStep, 'signature');
  });

  const broken = { 'content-type': 'text/csv', 'stack-provenance': '{' };
  const ledgerReceipt = vector('ledger-receipt.json');
  const answerWith = (from: string, to: string) => ({ [PATHS.answer]: { body: answer.replace(from, to) } });
  const keySet = (body: string, status = 200) => ({ [PATHS.keySet]: { body, status } });
  const ledger = (body: string, status = 200) => ({ [PATHS.ledgerReceipt]: { body, status } });
  for (const [why, step, pages] of [
    ['the answer is altered', 'signature', answerWith('Cloudflare', 'cloudflare')],
    ['the answer names a member twice', 'content', answerWith('{', '{"domain":"example.org",')],
    ['the answer is not JSON', 'content', { [PATHS.answer]: { body: '<html>' } }],
    ['the answer has no receipt', 'content', { [PATHS.answer]: { body: '{}' } }],
    ['the header is not JSON', 'content', { [PATHS.answer]: { body: '', headers: broken } }],
    ['the key set is missing', 'key', keySet('', 404)],
    ['the key set is not JSON', 'key', keySet('no')],
    ['the key set is endless', 'key', keySet(' '.repeat(1_048_577))],
    ['the keys are elsewhere', 'key', answerWith('"/.well-known', '"https://evil.test/.well-known')],
    ['the keys are at another host, without a scheme', 'key', answerWith('"/.well-known', '"//evil.test/.well-known')],
    ['the ledger does not know the leaf', 'leaf', ledger('{}', 404)],
    ['the ledger answers nonsense', 'leaf', ledger('[[[]]]')],
    ['the proof is altered', 'inclusion', ledger(ledgerReceipt.replace('gxF', 'gxG'))],
    ['the checkpoint is altered', 'checkpoint', ledger(ledgerReceipt.replace('Mf7OnOo1', 'Mf7OnOo2'))],
  ] as const)
    it(`fails at the ${step} when ${why}`, async () => {
      const result = await verifyUrl(answerUrl, serviceOf(pages));
      assert.equal(result.failedStep, step, JSON.stringify(result.steps));
    });

  it('stops when told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(verifyUrl(answerUrl, { fetch, signal }), /enough/);
  });

  it('trusts a ledger key given in place of the published one', async () => {
    const { ledger } = JSON.parse(vector('key-set.json')) as { ledger: { verifier_keys: string[] } };
    const failedStep = async (ledgerKey = '') => (await verifyUrl(answerUrl, { fetch, ledgerKey })).failedStep;
    assert.equal(await failedStep(ledger.verifier_keys[0]), undefined);
    assert.equal(await failedStep('other+00000000+AAAA'), 'checkpoint');
  });
});

describe('a saved answer', () => {
  it('verifies as bytes, as text and as a value, pretty-printed or not', async () => {
    const value: unknown = JSON.parse(answer);
    for (const body of [answer, JSON.stringify(value), new TextEncoder().encode(answer), value]) {
      const { ok, steps } = await verifyBody(body, against);
      assert.ok(ok, JSON.stringify(steps));
    }
  });

  it('fails at the content for anything that is not an answer', async () => {
    for (const body of ['', 'null', '[]', Uint8Array.of(0xff), undefined, 7, { provenance: {} }])
      assert.equal((await verifyBody(body, against)).failedStep, 'content');
    assert.equal((await verifyBody(answer, { baseUrl: 'nowhere', fetch })).failedStep, 'key');
  });

  it('verifies detached bytes with the header kept beside them', async () => {
    const input = {
      content: new TextEncoder().encode(detached.content),
      contentType: detached.content_type,
      provenance: JSON.stringify(detached.provenance),
    };
    assert.ok((await verifyDetached(input, against)).ok);
    const retyped = { ...input, contentType: 'text/csv' };
    assert.equal((await verifyDetached(retyped, against)).failedStep, 'signature');
  });
});
