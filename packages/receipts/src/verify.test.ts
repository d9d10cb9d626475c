import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCheckpoint } from './checkpoint.ts';
import { keySetDocument, publicKeyEntry } from './key-set.ts';
import { formatVerifierKey, noteVerifier, signNote } from './note.ts';
import { issueReceipt } from './receipt.ts';
import * as fixture from './test/fixture.ts';
import { KEY_OVERLAP_MS, VERIFY_STEPS, type VerifyStep, verifyAnswer } from './verify.ts';

const { checkpointOver, goodAnswer, LEDGER_KEY, NOW, ORIGIN, RECEIPT_KEY, testKey } = fixture;
const good = await goodAnswer();
const { body, keySet, ledgerReceipt } = good;

/** Verifies the good answer with parts of it replaced, and says where that fails. */
async function failureOf(changed: {
  body?: unknown;
  keySet?: unknown;
  ledgerReceipt?: unknown;
}): Promise<VerifyStep | undefined> {
  const answer = { ...good, ...changed };
  const result = await verifyAnswer(answer.body, { keySet: answer.keySet, ledgerReceipt: answer.ledgerReceipt });
  assert.equal(result.ok, result.failedStep === undefined);
  assert.equal(result.steps.at(-1)?.ok, result.ok);
  return result.failedStep;
}

describe('a good answer', () => {
  it('passes every step', async () => {
    const { ok, steps } = await verifyAnswer(body, { keySet, ledgerReceipt });
    assert.ok(ok, JSON.stringify(steps));
    assert.deepEqual(
      steps.map(({ step }) => step),
      VERIFY_STEPS,
    );
  });

  it('passes with its members in another order and the ledger key pinned', async () => {
    const reordered = Object.fromEntries(Object.entries(body).reverse());
    const ledgerKey = formatVerifierKey(noteVerifier(ORIGIN, LEDGER_KEY.publicKey));
    assert.ok((await verifyAnswer(reordered, { keySet: { keys: keySet.keys }, ledgerReceipt, ledgerKey })).ok);
  });

  it('passes with a key that was retired later', async () => {
    const retired = publicKeyEntry(RECEIPT_KEY.publicKey, {
      status: 'retired',
      not_before: '2026-01-01T00:00:00.000Z',
      not_after: '2026-01-03T00:00:00.000Z',
    });
    assert.equal(await failureOf({ keySet: keySetDocument([retired], keySet.ledger) }), undefined);
  });
});

describe('an altered answer fails', () => {
  it('at the signature, for every altered value of the body', async () => {
    const provenance = body.provenance;
    for (const changed of [
      { ...body, domain: 'example.org' },
      { ...body, _alpha: false },
      { ...body, services: [] },
      { ...body, extra: 1 },
      { ...body, provenance: { ...provenance, receipt_id: provenance.receipt_id.replace('rwr_0', 'rwr_1') } },
      { ...body, provenance: { ...provenance, public_key_url: '/elsewhere' } },
      { ...body, provenance: { ...provenance, signed_at: '2026-01-02T03:04:05.679Z' } },
      { ...body, provenance: { ...provenance, extra: 1 } },
    ]) {
      assert.equal(await failureOf({ body: changed }), 'signature', JSON.stringify(changed));
    }
  });

  it('at the signature, when that is malformed or by another key', async () => {
    const provenance = body.provenance;
    for (const signature of [
      '',
      'ed25519:',
      provenance.signature.slice(8),
      `${provenance.signature}=`,
      'ed25519:AAAA',
    ]) {
      assert.equal(await failureOf({ body: { ...body, provenance: { ...provenance, signature } } }), 'signature');
    }
    const forger = { keyId: RECEIPT_KEY.keyId, sign: testKey(9).sign };
    assert.equal(await failureOf(await goodAnswer(forger)), 'signature');
  });

  it('at the key, when it is unknown, renamed, not yet or no longer in use', async () => {
    assert.equal(await failureOf(await goodAnswer(testKey(9))), 'key');
    const [key] = keySet.keys;
    assert.ok(key);
    const other = publicKeyEntry(testKey(9).publicKey, { status: 'current', not_before: key.not_before });
    const keySets: unknown[] = [
      { ...keySet, keys: [{ ...other, kid: key.kid }] },
      { ...keySet, keys: [{ ...key, kty: 'EC' }] },
      { ...keySet, keys: [{ ...key, x: 'AAAA' }] },
      { ...keySet, keys: [{ ...key, not_before: '2026-01-03T00:00:00Z' }] },
      { ...keySet, keys: [{ ...key, not_after: '2026-01-01T00:00:00Z' }] },
      { ...keySet, keys: [{ ...key, not_after: 'soon' }] },
      { ...keySet, keys: [] },
    ];
    for (const changed of keySets) assert.equal(await failureOf({ keySet: changed }), 'key', JSON.stringify(changed));
  });

  it('at the leaf, when the ledger holds something else', async () => {
    const other = await goodAnswer(RECEIPT_KEY, new Date(NOW.getTime() + 1));
    assert.equal(await failureOf({ ledgerReceipt: other.ledgerReceipt }), 'leaf');
    for (const changed of [
      { ...ledgerReceipt, leaf: other.ledgerReceipt.leaf },
      { ...ledgerReceipt, receipt_id: other.ledgerReceipt.receipt_id },
      { ...ledgerReceipt, ledger_receipt_id: other.ledgerReceipt.ledger_receipt_id },
    ]) {
      assert.equal(await failureOf({ ledgerReceipt: changed }), 'leaf');
    }
    const provenance = { ...body.provenance, ledger_receipt_id: other.body.provenance.ledger_receipt_id };
    assert.equal(await failureOf({ body: { ...body, provenance } }), 'leaf');
    assert.equal(await failureOf({ ledgerReceipt: undefined }), 'leaf');
  });

  it('at the inclusion, for a wrong proof, index or tree size', async () => {
    const [first = '', ...rest] = ledgerReceipt.proof;
    for (const changed of [
      { ...ledgerReceipt, proof: rest },
      { ...ledgerReceipt, proof: [...rest, first] },
      { ...ledgerReceipt, proof: [...ledgerReceipt.proof, first] },
      { ...ledgerReceipt, index: 3 },
      { ...ledgerReceipt, tree_size: 8 },
      { ...ledgerReceipt, tree_size: 6 },
      { ...ledgerReceipt, checkpoint: checkpointOver(6, new Uint8Array(32)) },
      { ...ledgerReceipt, checkpoint: checkpointOver(7, new Uint8Array(32)) },
      { ...ledgerReceipt, checkpoint: 'nothing' },
    ]) {
      assert.equal(await failureOf({ ledgerReceipt: changed }), 'inclusion', JSON.stringify(changed));
    }
  });

  it('at the checkpoint, for another signer or another origin', async () => {
    const root = Buffer.from(ledgerReceipt.checkpoint.split('\n')[2] ?? '', 'base64');
    const resigned = (of: Parameters<typeof checkpointOver>[2]) => ({
      ...ledgerReceipt,
      checkpoint: checkpointOver(7, root, of),
    });
    assert.equal(await failureOf({ ledgerReceipt: resigned({}) }), undefined);
    assert.equal(await failureOf({ ledgerReceipt: resigned({ key: testKey(9) }) }), 'checkpoint');
    assert.equal(await failureOf({ ledgerReceipt: resigned({ origin: 'evil.example/ledger' }) }), 'checkpoint');
    // Signed by the right name and key, but the text says another origin.
    const text = formatCheckpoint({ origin: 'strata.example/other', size: 7, root });
    const lying = signNote(text, [{ name: ORIGIN, ...LEDGER_KEY }]);
    assert.equal(await failureOf({ ledgerReceipt: { ...ledgerReceipt, checkpoint: lying } }), 'checkpoint');
    const elsewhere = { ...keySet, ledger: { ...keySet.ledger, origin: 'evil.example/ledger' } };
    assert.equal(await failureOf({ keySet: elsewhere }), 'checkpoint');
    assert.equal(await failureOf({ keySet: { keys: keySet.keys } }), 'checkpoint');
    const ledgerKey = formatVerifierKey(noteVerifier(ORIGIN, testKey(9).publicKey));
    for (const pinned of [ledgerKey, 'no key']) {
      assert.equal((await verifyAnswer(body, { keySet, ledgerReceipt, ledgerKey: pinned })).failedStep, 'checkpoint');
    }
  });

  it('outside the overlap of a rotation only', async () => {
    const keyAt = (not_after: Date) => ({
      ...keySet,
      keys: [{ ...keySet.keys[0], status: 'retired', not_after: not_after.toISOString() }],
    });
    assert.equal(await failureOf({ keySet: keyAt(new Date(NOW.getTime() - KEY_OVERLAP_MS)) }), undefined);
    assert.equal(await failureOf({ keySet: keyAt(new Date(NOW.getTime() - KEY_OVERLAP_MS - 1)) }), 'key');
  });
});

describe('issuing', () => {
  it('answers the same receipt for the same moment and randomness, and one that the ledger can keep', () => {
    const options = {
      signer: RECEIPT_KEY,
      now: NOW,
      random: new Uint8Array(16).fill(7),
      publicKeyUrl: fixture.PUBLIC_KEY_URL,
    };
    const issued = issueReceipt(fixture.PROFILE, options);
    assert.deepEqual(issued.body, body);
    assert.equal(Buffer.from(issued.leaf).toString('base64'), ledgerReceipt.leaf);
    assert.match(issued.receiptId, /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.match(issued.ledgerReceiptId, /^cr_[a-z2-7]{32}$/);
    assert.deepEqual(Object.keys(JSON.parse(Buffer.from(issued.leaf).toString()) as object), [
      ...['content_sha256', 'key_id', 'receipt_id', 'signature', 'signed_at'],
    ]);
    assert.throws(() => issueReceipt(issued.body, options), /has a receipt already/);
    assert.throws(() => issueReceipt({ a: undefined }, options), /not JSON/);
  });
});
