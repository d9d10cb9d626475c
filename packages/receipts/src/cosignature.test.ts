// Witnesses: their cosignatures, the policy, and the judgement of a checkpoint that is shown to one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AddCheckpointRequest,
  formatAddCheckpoint,
  judgeCheckpoint,
  parseAddCheckpoint,
} from './add-checkpoint.ts';
import { formatCheckpoint } from './checkpoint.ts';
import { checkWitnesses, cosign, readCosignatures, readWitnessPolicy } from './cosignature.ts';
import { EMPTY_ROOT } from './merkle.ts';
import { formatVerifierKey, noteVerifier, parseVerifierKey, SIGNATURE_TYPES, signNote } from './note.ts';
import { consistencyProof, treeRoot } from './proof.ts';
import * as fixture from './test/fixture.ts';
import { verifyAnswer } from './verify.ts';

const { bytesOf, checkpointOver, LEDGER_KEY, ORIGIN, readerOver, readVector, testKey } = fixture;
const AT = new Date('2026-01-02T03:04:05.000Z');
const names = ['a.example', 'b.example', 'c.example'];
const signers = names.map((name, at) => ({ name, ...testKey(20 + at) }));
const keys = signers.map(({ name, publicKey }) =>
  formatVerifierKey(noteVerifier(name, publicKey, SIGNATURE_TYPES.cosignature), SIGNATURE_TYPES.cosignature),
);
const { text, note } = (() => {
  const text = formatCheckpoint({ origin: ORIGIN, size: 7, root: new Uint8Array(32).fill(7) });
  return { text, note: signNote(text, [{ name: ORIGIN, ...LEDGER_KEY }]) };
})();
const cosignedBy = (...at: number[]) =>
  note + at.map((each) => `${cosign(text, signers[each] ?? assert.fail(), AT)}\n`).join('');
const policyOf = (given: Parameters<typeof readWitnessPolicy>[0]) => {
  const policy = readWitnessPolicy(given);
  assert.ok('witnesses' in policy, JSON.stringify(policy));
  return policy;
};

describe('cosignatures', () => {
  for (const { name, note, witness, at } of JSON.parse(readVector('notes/cosignatures.json')) as Record<
    string,
    string
  >[])
    it(`are read: ${name}`, async () => {
      const verifier = parseVerifierKey(witness ?? '', SIGNATURE_TYPES.cosignature) ?? assert.fail();
      assert.equal(formatVerifierKey(verifier, SIGNATURE_TYPES.cosignature), witness);
      const read = await readCosignatures(note ?? '', [verifier]);
      assert.ok('cosignatures' in read, JSON.stringify(read));
      assert.deepEqual(
        read.cosignatures.map((each) => each.at.toISOString()),
        [at],
      );
    });

  it('fulfil a policy of so many of the witnesses named, each counted once', async () => {
    const policy = policyOf({ keys, required: 2 });
    for (const [by, ok] of [
      [[0, 2], true],
      [[0, 1, 2], true],
      [[0], false],
      [[0, 0], false],
      [[], false],
    ] as const)
      assert.equal((await checkWitnesses(cosignedBy(...by), policy)).ok, ok, `${by}`);
    const { detail } = await checkWitnesses(cosignedBy(1), policyOf({ keys }));
    assert.equal(detail, '1 of 3 witnesses have cosigned the checkpoint (b.example); 3 are required.');
  });

  it('of unknown keys are ignored; a bad one of a known key refuses the note', async () => {
    const stranger = `${cosign(text, { name: 'a.example', ...testKey(9) }, AT)}\n`;
    const policy = policyOf({ keys, required: 1 });
    assert.ok((await checkWitnesses(cosignedBy(1) + stranger, policy)).ok);
    const altered = [
      note.replace('\n7\n', '\n8\n') + cosignedBy(1).slice(note.length),
      'no note',
      cosignedBy(1).slice(1),
    ];
    const late = cosign(text, { ...(signers[1] ?? assert.fail()), sign: () => new Uint8Array(64) }, AT);
    for (const bad of [...altered, `${cosignedBy(0)}${late}\n`])
      assert.equal((await checkWitnesses(bad, policy)).ok, false);
    assert.throws(() => cosign(text, signers[0] ?? assert.fail(), new Date(0)), RangeError);
    assert.throws(() => cosign('no checkpoint\n', signers[0] ?? assert.fail(), AT), RangeError);
  });

  it('are asked for by a policy that can be fulfilled', () => {
    const ledgerKey = formatVerifierKey(noteVerifier(ORIGIN, LEDGER_KEY.publicKey));
    const [first = ''] = keys;
    const renamed = formatVerifierKey(
      noteVerifier('other.example', signers[0]?.publicKey ?? assert.fail(), SIGNATURE_TYPES.cosignature),
      SIGNATURE_TYPES.cosignature,
    );
    for (const [given, problem] of [
      [{ keys: [] }, /0 of 0/],
      [{ keys, required: 4 }, /4 of 3/],
      [{ keys, required: 0 }, /0 of 3/],
      [{ keys: [ledgerKey] }, /not the verifier key of a witness/],
      [{ keys: [first, renamed] }, /named twice/],
      [{ keys: Array(65).fill(first) }, /more than 64/],
    ] as const) {
      const policy = readWitnessPolicy(given);
      assert.match('problem' in policy ? policy.problem : '', problem);
    }
  });

  it('are demanded of an answer where the verifier names witnesses', async () => {
    const { body, keySet, ledgerReceipt } = fixture.good;
    const line = cosign(`${ledgerReceipt.checkpoint.split('\n\n')[0]}\n`, signers[0] ?? assert.fail(), AT);
    const cosigned = { ...ledgerReceipt, checkpoint: `${ledgerReceipt.checkpoint}${line}\n` };
    for (const [receipt, witnesses, failedStep] of [
      [cosigned, { keys, required: 1 }, undefined],
      [cosigned, { keys }, 'checkpoint'],
      [ledgerReceipt, { keys, required: 1 }, 'checkpoint'],
      [cosigned, { keys: ['none'] }, 'checkpoint'],
    ] as const)
      assert.equal((await verifyAnswer(body, { keySet, ledgerReceipt: receipt, witnesses })).failedStep, failedStep);
  });
});

describe('a checkpoint shown to a witness', () => {
  const leaves = Array.from({ length: 9 }, (_, at) => bytesOf(`leaf ${at}`));
  const read = readerOver(leaves);
  const forked = readerOver([...leaves.slice(0, 4), ...leaves.slice(0, 5)]);
  const noteOf = async (size: number, from = read) => checkpointOver(size, await treeRoot(from, size));
  const shown = async (oldSize: number, size: number, from = read): Promise<AddCheckpointRequest> => ({
    oldSize,
    proof: await consistencyProof(from, oldSize, size),
    checkpoint: await noteOf(size, from),
  });
  /** The status for a witness that has cosigned so many leaves of the log. */
  const statusAt = async (known: number, request: AddCheckpointRequest) => {
    const root = await treeRoot(read, known);
    const verifiers = [noteVerifier(ORIGIN, LEDGER_KEY.publicKey)];
    const judged = await judgeCheckpoint(request, {
      verifiersOf: (origin) => (origin === ORIGIN ? verifiers : undefined),
      latestOf: () => (known === 0 ? undefined : { size: known, root }),
    });
    return judged.status === 409 ? `409 ${judged.size}` : String(judged.status);
  };

  it('is judged as the protocol says', async () => {
    const extra = { proof: [EMPTY_ROOT] };
    const by = (of: Parameters<typeof checkpointOver>[2]) => ({ checkpoint: checkpointOver(9, EMPTY_ROOT, of) });
    const unsigned = (await noteOf(9)).replace(/— .*/s, '');
    for (const [known, request, status] of [
      [0, await shown(0, 5), '200'],
      [5, await shown(5, 9), '200'],
      [5, await shown(5, 5), '200'],
      [0, { ...(await shown(0, 0)), checkpoint: checkpointOver(0, EMPTY_ROOT) }, '200'],
      [0, { ...(await shown(0, 0)), checkpoint: checkpointOver(0, new Uint8Array(32)) }, '422'],
      [0, { ...(await shown(0, 5)), ...extra }, '422'],
      [5, await shown(0, 9), '409 5'],
      [5, await shown(4, 9), '409 5'],
      [9, await shown(5, 5), '409 9'],
      [5, { ...(await shown(0, 4)), oldSize: 5 }, '400'],
      [5, { ...(await shown(5, 9)), proof: [] }, '422'],
      [5, await shown(5, 9, forked), '422'],
      [5, await shown(5, 5, forked), '422'],
      [5, { ...(await shown(5, 9)), ...by({ key: testKey(9) }) }, '403'],
      [5, { ...(await shown(5, 9)), ...by({ origin: 'other.example/log' }) }, '404'],
      [5, { ...(await shown(5, 9)), checkpoint: (await noteOf(9)).replace('\n9\n', '\n8\n') }, '403'],
      [5, { ...(await shown(5, 9)), checkpoint: unsigned }, '400'],
    ] as const)
      assert.equal(await statusAt(known, request), status, JSON.stringify(request));
  });

  it('travels as lines of text, and what is malformed is refused', async () => {
    for (const request of [await shown(0, 5), await shown(5, 9)])
      assert.deepEqual(parseAddCheckpoint(formatAddCheckpoint(request)), request);
    const good = formatAddCheckpoint(await shown(5, 9));
    const many = { ...(await shown(5, 9)), proof: Array<Uint8Array>(64).fill(EMPTY_ROOT) };
    const changed = ['old 05', 'old -5', 'old', 'older 5', 'old 99999999999999999', 'old 5\nAAAA'].map((line) =>
      good.replace('old 5', line),
    );
    for (const body of ['', 'old 5\n', ...changed, good.replaceAll('\n', '\r\n'), formatAddCheckpoint(many)])
      assert.equal(parseAddCheckpoint(body), undefined, body);
  });
});
