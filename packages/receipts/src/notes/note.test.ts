import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { LEDGER_KEY, readVector, testKey } from '../test/fixture.ts';
import { formatCheckpoint, parseCheckpoint } from './checkpoint.ts';
import { formatVerifierKey, noteVerifier, openNote, parseVerifierKey, signNote } from './note.ts';
import { formatTlogProof, parseTlogProof } from './tlog-proof.ts';

type NoteVector = { name: string; note: string; verifier_keys: string[]; opens: boolean };
const signer = { name: 'strata.example/notes', ...LEDGER_KEY };

for (const { name, note, verifier_keys, opens } of JSON.parse(readVector('notes/notes.json')) as NoteVector[]) {
  it(`signed notes ${opens ? 'open' : 'are refused'}: ${name}`, async () => {
    const verifiers = verifier_keys.map((text) => parseVerifierKey(text) ?? assert.fail(`no verifier key: ${text}`));
    const opened = await openNote(note, verifiers);
    assert.equal(opened.ok, opens, JSON.stringify(opened));
    if (opened.ok) assert.ok(note.startsWith(`${opened.text}\n— `));
  });
}

it('signed notes read back any text and any one-word name', async () => {
  const text = fc.string({ unit: 'grapheme' }).map((words) => `${words.replaceAll(/\p{Cc}/gu, '')}\n`);
  const property = fc.asyncProperty(text, async (words) => {
    const opened = await openNote(signNote(words, [signer]), [noteVerifier(signer.name, signer.publicKey)]);
    assert.ok(opened.ok && opened.text === words);
  });
  await fc.assert(property, { numRuns: 50 });
});

it('signed notes refuse texts and names that the format cannot hold', () => {
  for (const text of ['no newline', 'tab\t\n', 'bell\u0007\n', '\ud83d\n'])
    assert.throws(() => signNote(text, [signer]), RangeError, JSON.stringify(text));
  for (const name of ['', 'a b', 'a+b', 'a\u2003b', 'a\nb'])
    assert.throws(() => noteVerifier(name, signer.publicKey), RangeError, JSON.stringify(name));
});
it('signed notes carry at least sixteen signatures', async () => {
  const more = Array.from({ length: 15 }, (_, at) => ({ name: `w${at}.example`, ...testKey(10 + at) }));
  const note = signNote('text\n', [...more, signer]);
  const verifiers = [noteVerifier(signer.name, signer.publicKey)];
  assert.ok((await openNote(note, verifiers)).ok);
  const repeated = await openNote(signNote('text\n', Array(64).fill(signer)), verifiers);
  assert.equal(repeated.ok && repeated.signatures.length, 1, 'one line of each key is kept');
});

const { accepted, refused } = JSON.parse(readVector('notes/verifier-keys.json')) as Record<string, string[]>;
it('verifier keys read back what was written', () => {
  for (const text of accepted ?? []) assert.equal(formatVerifierKey(parseVerifierKey(text) ?? assert.fail(text)), text);
});
it('verifier keys are refused when a part is wrong', () => {
  for (const text of refused ?? []) assert.equal(parseVerifierKey(text), undefined, text);
});

const checkpoint = { origin: 'strata.example/ledger', size: 20_852_163, root: new Uint8Array(32).fill(9) };
it('checkpoints read back, with extension lines ignored', () => {
  const text = formatCheckpoint(checkpoint);
  assert.deepEqual(parseCheckpoint(text), checkpoint);
  assert.deepEqual(parseCheckpoint(`${text}extension\n`), checkpoint);
});
it('checkpoints are refused when a line is malformed', () => {
  const good = formatCheckpoint(checkpoint);
  const sizes = ['020852163', '-1', '1e3', '99999999999999999999'].map((size) => good.replace('20852163', size));
  const replaced = [good.replace('strata.example/ledger', ''), good.replace('CQkJ', 'CQk')];
  const cut = [good.slice(0, -1), `${good}\n`, good.split('\n').slice(0, 2).join('\n')];
  const malformed = ['', ...sizes, ...replaced, ...cut];
  for (const text of malformed) assert.equal(parseCheckpoint(text), undefined, JSON.stringify(text));
});

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const extra = fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined });
it('tlog proofs read back', () =>
  holds(100, [fc.maxSafeNat(), fc.array(hash, { maxLength: 64 }), extra], (index, proof, opaque) => {
    const value = { index, proof, checkpoint: 'origin\n1\nroot\n\n— key sig\n', ...(opaque && { extra: opaque }) };
    assert.deepEqual(parseTlogProof(formatTlogProof(value)), value);
  }));
it('tlog proofs of the vector read as its ledger receipt says', () => {
  const proof = parseTlogProof(readVector('receipts/ledger-receipt.tlog-proof'));
  const receipt = JSON.parse(readVector('receipts/ledger-receipt.json')) as Record<string, unknown>;
  assert.ok(proof?.extra);
  const hashes = proof.proof.map((bytes) => Buffer.from(bytes).toString('base64'));
  assert.deepEqual([proof.index, hashes, proof.checkpoint], [receipt.index, receipt.proof, receipt.checkpoint]);
  assert.equal(Buffer.from(proof.extra).toString('base64'), receipt.leaf);
});
it('tlog proofs are refused when a line is malformed', () => {
  const good = formatTlogProof({ index: 3, proof: [new Uint8Array(32)], checkpoint: 'c' });
  const indexes = ['index 03\n', 'index -3\n', '', 'extra !\nindex 3\n'].map((to) => good.replace('index 3\n', to));
  const changes = ['@v1 @v2', 'AAAA AAA', '\n\n \n'].map((change) => change.split(' '));
  const replaced = [...indexes, ...changes.map(([from = '', to = '']) => good.replace(from, to))];
  const hashes = new Array<Uint8Array>(65).fill(new Uint8Array(32));
  const long = [formatTlogProof({ index: 3, proof: hashes, checkpoint: '' }), `${'A'.repeat(100_000)}\n\nc`];
  const malformed = ['', `${good.split('\n\n')[0]}\n${long[1]}`, long[0] ?? '', ...replaced];
  for (const text of malformed) assert.equal(parseTlogProof(text), undefined, text.slice(0, 80));
});
