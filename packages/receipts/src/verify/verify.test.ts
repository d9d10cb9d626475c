// Every step of the verification of an answer, with good and altered parts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { formatCheckpoint } from '../notes/checkpoint.ts';
import { signNote } from '../notes/note.ts';
import { keySetDocument, ledgerPathOf, publicKeyEntry } from '../receipt/key-set.ts';
import { bodySignedBytes, issueReceipt, prepareReceipt } from '../receipt/receipt.ts';
import * as fixture from '../test/fixture.ts';
import { KEY_OVERLAP_MS, VERIFY_STEPS, verifyAnswer } from './verify.ts';

const { checkpointOver, failAt, goodAnswer, LEDGER_KEY, NOW, ORIGIN, RECEIPT_KEY, testKey } = fixture;
const { body, keySet, ledgerReceipt } = fixture.good;
const { provenance } = body;

it('a good answer passes every step', async () => {
  const { ok, steps } = await verifyAnswer(body, { keySet, ledgerReceipt });
  assert.ok(ok, JSON.stringify(steps));
  const names = steps.map(({ step }) => step);
  assert.deepEqual([...names, 'consistency'], VERIFY_STEPS);
});
it('a good answer passes with its members in another order and the ledger key pinned', async () => {
  const reordered = Object.fromEntries(Object.entries(body).reverse());
  const against = { keySet: { keys: keySet.keys }, ledgerReceipt, ledgerKey: fixture.keyTextOf(LEDGER_KEY) };
  assert.ok((await verifyAnswer(reordered, against)).ok);
});
it('a good answer passes with a key that was retired later', async () => {
  const [not_before, not_after] = ['2026-01-01T00:00:00.000Z', '2026-01-03T00:00:00.000Z'];
  const retired = publicKeyEntry(RECEIPT_KEY.publicKey, { status: 'retired', not_before, not_after });
  await failAt(undefined, { keySet: keySetDocument([retired], keySet.ledger) });
});

it('reads where the ledger is served, as a path of the service alone', () => {
  const pathOf = (url: unknown) => ledgerPathOf({ ledger: { url } });
  assert.deepEqual(['/log/a/', undefined, 7, '//host/', '/log'].map(pathOf), ['/log/a/', ...Array(4).fill('/ledger/')]);
});

const withProvenance = (changed: object) => ({ body: { ...body, provenance: { ...provenance, ...changed } } });
const withReceipt = (changed: object) => ({ ledgerReceipt: { ...ledgerReceipt, ...changed } });

it('an altered answer fails at the signature, for every altered value of the body', async () => {
  const bodies = [{ domain: 'example.org' }, { _alpha: false }, { services: [] }, { extra: 1 }];
  await failAt('signature', ...bodies.map((changed) => ({ body: { ...body, ...changed } })));
  const receipt_id = provenance.receipt_id.replace('rwr_0', 'rwr_1');
  const signed_at = '2026-01-02T03:04:05.679Z';
  const provenances = [{ receipt_id }, { public_key_url: '/elsewhere' }, { signed_at }, { extra: 1 }];
  await failAt('signature', ...provenances.map(withProvenance));
});
it('an altered answer fails at the signature, when that is malformed or by another key', async () => {
  const { signature } = provenance;
  const malformed = ['', 'ed25519:', signature.slice(8), `${signature}=`, 'ed25519:AAAA'];
  await failAt('signature', ...malformed.map((signature) => withProvenance({ signature })));
  await failAt('signature', await goodAnswer({ keyId: RECEIPT_KEY.keyId, sign: testKey(9).sign }));
});

it('an altered answer fails at the key, when it is unknown, renamed, not yet or no longer in use', async () => {
  const [key] = keySet.keys;
  assert.ok(key);
  const other = publicKeyEntry(testKey(9).publicKey, { status: 'current', not_before: key.not_before });
  const keys = [
    { ...other, kid: key.kid },
    { ...key, kty: 'EC' },
    { ...key, x: 'AAAA' },
    { ...key, not_before: '2026-01-03T00:00:00Z' },
    { ...key, not_after: '2026-01-01T00:00:00Z' },
    { ...key, not_after: 'soon' },
  ];
  await failAt('key', await goodAnswer(testKey(9)), { keySet: { ...keySet, keys: [] } });
  await failAt('key', ...keys.map((each) => ({ keySet: { ...keySet, keys: [each] } })));
});

it('an altered answer fails at the key, outside the overlap of a rotation only', async () => {
  const retiredAt = (ms: number) => {
    const retired = { status: 'retired', not_after: new Date(NOW.getTime() - ms).toISOString() };
    return { keySet: { ...keySet, keys: [{ ...keySet.keys[0], ...retired }] } };
  };
  await failAt(undefined, retiredAt(KEY_OVERLAP_MS));
  await failAt('key', retiredAt(KEY_OVERLAP_MS + 1));
});
it('an altered answer fails at the leaf, when the ledger holds something else', async () => {
  const other = await goodAnswer(RECEIPT_KEY, new Date(NOW.getTime() + 1));
  const { leaf, receipt_id, ledger_receipt_id } = other.ledgerReceipt;
  await failAt('leaf', ...[{ leaf }, { receipt_id }, { ledger_receipt_id }, other.ledgerReceipt].map(withReceipt));
  await failAt('leaf', withProvenance({ ledger_receipt_id: other.body.provenance.ledger_receipt_id }));
  await failAt('leaf', { ledgerReceipt: undefined });
});

it('an altered answer fails at the inclusion, for a wrong proof, index, tree size or checkpoint', async () => {
  const { proof } = ledgerReceipt;
  const [first = '', ...rest] = proof;
  const proofs = [rest, [...rest, first], [...proof, first]].map((proof) => ({ proof }));
  const checkpoints = [checkpointOver(6, new Uint8Array(32)), checkpointOver(7, new Uint8Array(32)), 'nothing'];
  const positions = [{ index: 3 }, { tree_size: 8 }, { tree_size: 6 }];
  const changes = [...proofs, ...positions, ...checkpoints.map((checkpoint) => ({ checkpoint }))];
  await failAt('inclusion', ...changes.map(withReceipt));
});

it('an altered answer fails at the checkpoint, for another signer or another origin', async () => {
  const root = Buffer.from(ledgerReceipt.checkpoint.split('\n')[2] ?? '', 'base64');
  const signedBy = (of: Parameters<typeof checkpointOver>[2]) =>
    withReceipt({ checkpoint: checkpointOver(7, root, of) });
  await failAt(undefined, signedBy({}));
  await failAt('checkpoint', signedBy({ key: testKey(9) }), signedBy({ origin: 'evil.example/ledger' }));
  // Signed by the right name and key over a text with another origin.
  const text = formatCheckpoint({ origin: 'strata.example/other', size: 7, root });
  await failAt('checkpoint', withReceipt({ checkpoint: signNote(text, [{ name: ORIGIN, ...LEDGER_KEY }]) }));
  const elsewhere = { ...keySet, ledger: { ...keySet.ledger, origin: 'evil.example/ledger' } };
  await failAt('checkpoint', { keySet: elsewhere }, { keySet: { keys: keySet.keys } });
  for (const ledgerKey of [fixture.keyTextOf(testKey(9)), 'no key'])
    assert.equal((await verifyAnswer(body, { keySet, ledgerReceipt, ledgerKey })).failedStep, 'checkpoint');
});

it('issuing makes a receipt that the ledger can store, once', () => {
  const random = new Uint8Array(16).fill(7);
  const options = { signer: RECEIPT_KEY, now: NOW, random, publicKeyUrl: fixture.PUBLIC_KEY_URL };
  const issued = issueReceipt(fixture.PROFILE, options);
  assert.match(issued.receiptId, /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.match(issued.ledgerReceiptId, /^cr_[a-z2-7]{32}$/);
  const members = Object.keys(JSON.parse(Buffer.from(issued.leaf).toString()) as object);
  assert.deepEqual(members, ['content_sha256', 'key_id', 'receipt_id', 'signature', 'signed_at']);
  assert.throws(() => issueReceipt(issued.body, options), /already has a receipt/);
  assert.throws(() => issueReceipt({ a: undefined }, options), /not JSON/);
  for (const body of [new Date(0), new Map(), Buffer.from('a'), [1]])
    assert.throws(() => issueReceipt(body, options), /not a plain object/);
});
it('issuing writes any body as JSON does, and signs what a verifier reads from it', () =>
  holds(100, [fc.dictionary(fc.string({ unit: codePoint }), fc.jsonValue())], (value) => {
    const options = { signer: RECEIPT_KEY, now: NOW, random: new Uint8Array(16), publicKeyUrl: '/keys' };
    const { signedBytes, finish } = prepareReceipt(value, options);
    const { body, text } = finish(new Uint8Array(64));
    assert.equal(text(), JSON.stringify(body));
    assert.deepEqual(signedBytes, bodySignedBytes(body, body.provenance));
  }));
