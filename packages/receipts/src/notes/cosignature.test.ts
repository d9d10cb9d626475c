// Witnesses: their cosignatures, the policy, and the judgement of a checkpoint that is shown to one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as fixture from '../test/fixture.ts';
import { EMPTY_ROOT } from '../tree/merkle.ts';
import { consistencyProof, treeRoot } from '../tree/proof.ts';
import * as shown from './add-checkpoint.ts';
import { checkWitnesses, cosign, readCosignatures, readWitnessPolicy } from './cosignature.ts';
import { formatVerifierKey, noteVerifier, parseVerifierKey, SIGNATURE_TYPES } from './note.ts';

const { bytesOf, checkpointOver, LEDGER_KEY, ORIGIN, readerOver, readVector, testKey } = fixture;
const { cosignature } = SIGNATURE_TYPES;
const AT = new Date('2026-01-02T03:04:05.000Z');
const signers = ['a.example', 'b.example', 'c.example'].map((name, at) => ({ name, ...testKey(20 + at) }));
const [a = assert.fail(), b = assert.fail()] = signers;
const keyOf = (name: string, { publicKey }: fixture.TestKey) =>
  formatVerifierKey(noteVerifier(name, publicKey, cosignature));
const keys = signers.map((signer) => keyOf(signer.name, signer));
const note = checkpointOver(7, new Uint8Array(32).fill(7));
const textOf = (note: string) => `${note.split('\n\n')[0]}\n`;
const cosignedBy = (...by: readonly (typeof a)[]) =>
  note + by.map((signer) => `${cosign(textOf(note), signer, AT)}\n`).join('');
const isFulfilled = async (note: string, required: number) => {
  const policy = readWitnessPolicy({ keys, required });
  return 'witnesses' in policy && (await checkWitnesses(note, policy)).ok;
};

it('cosignatures of a witness of real logs are read', async () => {
  for (const { note, witness, at } of JSON.parse(readVector('notes/cosignatures.json'))) {
    const verifier = parseVerifierKey(witness, cosignature) ?? assert.fail(witness);
    const read = await readCosignatures(note, [verifier]);
    assert.ok('cosignatures' in read, JSON.stringify(read));
    assert.deepEqual([formatVerifierKey(verifier), read.cosignatures[0]?.at], [witness, new Date(at)]);
  }
});

it('cosignatures fulfil a policy of N of the given witnesses, each counted once, and unknown ones not', async () => {
  const unknown = { ...testKey(9), name: a.name };
  for (const by of [signers, [a, b], [unknown, a, b]]) assert.ok(await isFulfilled(cosignedBy(...by), 2));
  for (const by of [[], [a], [a, a], [a, unknown]]) assert.ok(!(await isFulfilled(cosignedBy(...by), 2)));
});

it('cosignatures that are invalid make the note invalid, and only a checkpoint can be cosigned', async () => {
  const unsigned = { ...b, sign: () => new Uint8Array(64) };
  const altered = cosignedBy(a).replace('\n7\n', '\n8\n');
  for (const bad of [altered, cosignedBy(a, unsigned), cosignedBy(a).slice(1), 'no note'])
    assert.ok(!(await isFulfilled(bad, 1)), bad);
  assert.throws(() => cosign(textOf(note), a, new Date(0)), RangeError);
  assert.throws(() => cosign('no checkpoint\n', a, AT), RangeError);
});

it('cosignatures are asked for by a policy that can be fulfilled', () => {
  const ledgerKey = formatVerifierKey(noteVerifier(ORIGIN, LEDGER_KEY.publicKey));
  for (const [given, problem] of [
    [{ keys, required: 4 }, /4 of 3/],
    [{ keys: [ledgerKey] }, /not the verifier key of a witness/],
    [{ keys: [...keys, keyOf('other.example', a)] }, /listed twice/],
    [{ keys: Array(64).fill('') }, /more than 63/],
  ] as const)
    assert.match(String(Object.entries(readWitnessPolicy(given))), problem);
});

const leaves = Array.from({ length: 9 }, (_, at) => bytesOf(`leaf ${at}`));
const read = readerOver(leaves);
const forked = readerOver([...leaves.slice(0, 4), ...leaves.slice(0, 5)]);
const request = async (oldSize: number, size: number, from = read): Promise<shown.AddCheckpointRequest> => {
  const proof = await consistencyProof(from, oldSize, size);
  return { oldSize, proof, checkpoint: checkpointOver(size, await treeRoot(from, size)) };
};

it('a checkpoint shown to a witness is judged as the protocol says', async () => {
  const verifiers = [noteVerifier(ORIGIN, LEDGER_KEY.publicKey)];
  const good = await request(5, 9);
  const by = (of: Parameters<typeof checkpointOver>[2]) => ({ checkpoint: checkpointOver(9, EMPTY_ROOT, of) });
  for (const [known, asked, status] of [
    [0, await request(0, 5), 200],
    [5, good, 200],
    [5, await request(5, 5), 200],
    [0, await request(0, 0), 200],
    [0, { ...good, oldSize: 0, proof: [], checkpoint: checkpointOver(0, new Uint8Array(32)) }, 422],
    [0, { ...(await request(0, 5)), proof: [EMPTY_ROOT] }, 422],
    [5, await request(0, 9), 409],
    [9, await request(5, 5), 409],
    [5, { ...(await request(0, 4)), oldSize: 5 }, 400],
    [5, { ...good, proof: [] }, 422],
    [5, await request(5, 9, forked), 422],
    [5, await request(5, 5, forked), 422],
    [5, { ...good, ...by({ key: testKey(9) }) }, 403],
    [5, { ...good, ...by({ origin: 'other.example/log' }) }, 404],
    [5, { ...good, checkpoint: good.checkpoint.replace('\n9\n', '\n8\n') }, 403],
    [5, { ...good, checkpoint: good.checkpoint.replace(/— .*/s, '') }, 400],
  ] as const) {
    const root = await treeRoot(read, known);
    const judged = await shown.judgeCheckpoint(asked, {
      verifiersOf: (origin) => (origin === ORIGIN ? verifiers : undefined),
      latestOf: () => (known === 0 ? undefined : { size: known, root }),
    });
    assert.equal(judged.status, status, JSON.stringify(asked));
  }
});

it('a checkpoint shown to a witness is sent as lines of text, and malformed requests are rejected', async () => {
  for (const each of [await request(0, 5), await request(5, 9)])
    assert.deepEqual(shown.parseAddCheckpoint(shown.formatAddCheckpoint(each)), each);
  const good = shown.formatAddCheckpoint(await request(5, 9));
  const changes = ['05', '-5', '', '99999999999999999', '5\nAAAA', `5${`\n${'A'.repeat(43)}=`.repeat(64)}`];
  for (const body of ['', 'old 5\n', good.replaceAll('\n', '\r\n'), ...changes.map((to) => good.replace('5', to))])
    assert.equal(shown.parseAddCheckpoint(body), undefined, body);
});
