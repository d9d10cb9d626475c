// Alterations and hostile documents, by the thousand.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../../../../tests/support/random.ts';
import { AmbiguousJsonError, parseStrictJson } from '../encoding/strict-json.ts';
import { issueDetachedReceipt } from '../receipt/receipt.ts';
import * as fixture from '../test/fixture.ts';
import { verifyDetachedAnswer } from './verify.ts';

const { bytesOf, failAt, failureOf, KEY_SET, NOW, RECEIPT_KEY } = fixture;
const { body, keySet, ledgerReceipt } = fixture.good;

/** The text with every position altered: to a digit, and to a random printable character. */
function* alterationsOf(text: string): Generator<string> {
  const random = randomFrom(1);
  for (let at = 0; at < text.length; at++)
    for (const other of [text[at] === '1' ? '2' : '1', String.fromCharCode(0x20 + Math.floor(random() * 0x5f))])
      yield text.slice(0, at) + other + text.slice(at + 1);
}

for (const part of ['body', 'ledgerReceipt'] as const)
  it(`every altered byte of the ${part} is refused, or is another spelling of the same value`, async () => {
    const original = fixture.good[part];
    for (const text of alterationsOf(JSON.stringify(original))) {
      let value: unknown;
      try {
        value = parseStrictJson(text);
      } catch (error) {
        assert.ok(error instanceof AmbiguousJsonError);
        continue;
      }
      if ((await failureOf({ [part]: value })) === undefined) assert.deepEqual(value, original);
    }
  });

it('every altered byte of the checkpoint is refused', async () => {
  const { checkpoint } = ledgerReceipt;
  for (let at = 0; at < checkpoint.length; at++) {
    for (const other of ['A', '\n', ' ']) {
      const altered = checkpoint.slice(0, at) + other + checkpoint.slice(at + 1);
      if (altered === checkpoint) continue;
      const step = await failureOf({ ledgerReceipt: { ...ledgerReceipt, checkpoint: altered } });
      assert.ok(step === 'inclusion' || step === 'checkpoint', `${at} ${step}`);
    }
  }
});

it('every altered byte of a detached answer is refused', async () => {
  const content = bytesOf('domain,score\r\nexample.com,80\r\n');
  const contentType = 'text/csv; charset=utf-8';
  const options = { signer: RECEIPT_KEY, now: NOW, random: new Uint8Array(16), publicKeyUrl: fixture.PUBLIC_KEY_URL };
  const { provenance, leaf } = issueDetachedReceipt(content, contentType, options);
  const against = { keySet, ledgerReceipt: await fixture.ledgerReceiptOf([bytesOf('x'), leaf], 1) };
  const answer = { content, contentType, provenance };
  const stepOf = async (changed: Partial<Parameters<typeof verifyDetachedAnswer>[0]>) =>
    (await verifyDetachedAnswer({ ...answer, ...changed }, against)).failedStep;
  assert.equal(await stepOf({}), undefined);
  assert.equal(await stepOf({ contentType: 'text/plain' }), 'signature');
  assert.equal(await stepOf({ provenance: { ...provenance, key_id: 'x' } }), 'key');
  assert.equal(await stepOf({ provenance: undefined }), 'content');
  for (const at of content.keys())
    assert.equal(await stepOf({ content: content.with(at, (content[at] ?? 0) ^ 1) }), 'signature');
});

const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });

it('hostile documents fail a step and never throw, whatever their form', async () => {
  const property = fc.asyncProperty(anything, async (value) => {
    await failAt('content', { body: value });
    await failAt('key', { keySet: value });
    await failAt('leaf', { ledgerReceipt: value });
  });
  await fc.assert(property, { numRuns: 300 });
});

it('hostile documents fail with any one field of any type', async () => {
  const [field, other] = [ledgerReceipt, body.provenance].map((part) => fc.constantFrom(...Object.keys(part)));
  assert.ok(field && other);
  await fc.assert(
    fc.asyncProperty(field, anything, other, async (name, value, member) => {
      // A number that is drawn may be the true one.
      fc.pre(value !== ledgerReceipt[name as keyof typeof ledgerReceipt]);
      assert.ok(await failureOf({ ledgerReceipt: { ...ledgerReceipt, [name]: value } }));
      assert.ok(await failureOf({ body: { ...body, provenance: { ...body.provenance, [member]: value } } }));
      await failAt('checkpoint', { keySet: { ...KEY_SET, ledger: { ...KEY_SET.ledger, verifier_keys: value } } });
    }),
    { numRuns: 200 },
  );
});

it('hostile documents fail quickly however long their lists and texts are', async () => {
  const hash = ledgerReceipt.proof[0] ?? '';
  const long = 'A'.repeat(4_000_000);
  const { checkpoint } = ledgerReceipt;
  const signature = checkpoint.slice(checkpoint.indexOf('—'));
  const parts = [{ proof: new Array(1_000_000).fill(hash) }, { proof: [long] }, { leaf: long }];
  await failAt('leaf', ...parts.map((changed) => ({ ledgerReceipt: { ...ledgerReceipt, ...changed } })));
  const manySignatures = { ...ledgerReceipt, checkpoint: checkpoint + signature.repeat(100_000) };
  await failAt('checkpoint', { ledgerReceipt: manySignatures });
  await failAt('key', { keySet: { ...keySet, keys: [...keySet.keys, ...new Array(1_000).fill({})] } });
  const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
  assert.equal(await failureOf({ body: { ...body, deep } }), 'content');
  await failAt('content', { body: { ...body, domain: '\ud83d' } });
});
