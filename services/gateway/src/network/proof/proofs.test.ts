// Checks of workers of a pinned model: which are pinned, which are only claimed and why, and which lies are breaches.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CHUNK_BYTES, type Engine, type FileTree, openFileTree } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import { pino } from 'pino';
import { randomFrom } from '../../../../../tests/support/random.ts';
import { temporaryDirectory } from '../../../../../tests/support/temporary-directory.ts';
import { until } from '../../../../../tests/support/until.ts';
import { offeredModel } from '../../test/network/answers.ts';
import { ownVerifier } from '../audit/audit-panel.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { isChunkOf } from './file-proof.ts';
import { Proofs } from './proofs.ts';
import { trial } from './trial.ts';

const SHA256 = 'a'.repeat(64);
const engines = { right: createSimulatedEngine(), other: createSimulatedEngine({ modelSeed: 2 }) };
type Chunk = Awaited<ReturnType<WorkerSession['chunk']>>;
interface Worker {
  /** The model behind it. */
  readonly runs: keyof typeof engines;
  /** The file that it offers and reads; undefined for an earlier version. */
  readonly has?: 'right' | 'other';
  readonly chunk?: (chunk: Chunk) => Chunk;
}
const honest: Worker = { runs: 'right', has: 'right' };

describe('workers of a pinned model', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  const trees = {} as Record<'right' | 'other', FileTree>;
  before(async () => {
    directory = await temporaryDirectory();
    for (const name of ['right', 'other'] as const) {
      const file = path.join(directory.path, name);
      await writeFile(file, randomBytes(5 * CHUNK_BYTES - 7));
      trees[name] = await openFileTree(file, { cache: `${file}.tree` });
    }
  });
  after(() => directory?.[Symbol.asyncDispose]());

  const chunkOf = async (tree: FileTree, index: number): Promise<Chunk> => {
    const { bytes: part, path: siblings } = await tree.chunk(index);
    const rootSha256 = Buffer.from(tree.root).toString('hex');
    return { kind: 'chunk', id: 1, sizeBytes: tree.sizeBytes, rootSha256, part, path: siblings };
  };
  /** The level of each worker once all are checked, with the reason; and the breaches. */
  async function checked(workers: Readonly<Record<string, Worker>>, by: { own?: boolean; pin?: boolean } = {}) {
    const breaches: string[] = [];
    const connected = Object.entries(workers).map(([peer, { has, chunk = (right: Chunk) => right }]) => {
      const ask = async (_: string, index: number) => chunk(await chunkOf(trees[has ?? 'right'], index));
      const session = { peer, isAlive: true, chunk: ask } as Partial<WorkerSession> as WorkerSession;
      const tree = has && { fileTreeSha256: trees[has].digest };
      return { session, offer: offeredModel({ sha256: SHA256, sizeBytes: trees.right.sizeBytes, ...tree }) };
    });
    const engineOf = ({ peer }: WorkerSession) => engines[workers[peer]?.runs ?? 'right'] as unknown as Engine;
    const clock = { nowMs: 0 };
    await using proofs = new Proofs([SHA256], {
      workers: () => connected,
      knownTree: async () => (by.own || by.pin ? { digest: trees.right.digest, source: 'known' } : undefined),
      ownVerifier: () => (by.own ? ownVerifier(engines.right as unknown as Engine) : undefined),
      workerVerifier: (session) => ({ ...ownVerifier(engineOf(session)), peer: session.peer }),
      trial: ({ session }, options) => trial(engineOf(session), { ...options, vocabularySize: 4_096 }),
      breach: (peer, reason) => void breaches.push(`${peer}: ${reason}`),
      ...{ onChange: () => {}, logger: pino({ level: 'silent' }), nowMs: () => clock.nowMs, random: randomFrom(1) },
    });
    const levels = () => Object.keys(workers).map((peer) => proofs.of(peer, SHA256));
    assert.ok(
      levels().every((each) => each?.level === 'claimed'),
      'nobody is pinned before a check',
    );
    assert.equal(proofs.of('ann', 'b'.repeat(64)), undefined, 'of a model that is not pinned');
    for (let round = 0; round < 3; round += 1, clock.nowMs += 3_000) {
      proofs.check();
      await until(() => levels().every((each) => !/has not proved/.test(each?.reason ?? '')), { intervalMs: 1 });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { levels: levels().map((each) => `${each?.level}: ${each?.reason}`), breaches };
  }

  const cases: readonly (readonly [
    string,
    Readonly<Record<string, Worker>>,
    { own?: boolean; pin?: boolean },
    RegExp[],
  ])[] = [
    ['two that agree', { ann: honest, ben: honest }, {}, [/^pinned: .*2 workers agree/, /^pinned: /]],
    ['one alone', { ann: honest }, {}, [/^claimed: nothing to compare/]],
    ['one alone, the pin names the tree', { ann: honest }, { pin: true }, [/^claimed: .*no other copy/]],
    ['one and an own copy', { ann: honest }, { own: true }, [/^pinned: .*this gateway's copy/]],
    ['an earlier version', { ann: { runs: 'right' } }, { own: true }, [/^claimed: the version/]],
    [
      'another file',
      { eve: { runs: 'other', has: 'other' } },
      { pin: true },
      [/^claimed: .*another file/, /^eve: another file/],
    ],
    [
      'the right file, another model',
      { eve: { ...honest, runs: 'other' } },
      { own: true },
      [/^claimed: .*does not answer by it/],
    ],
    [
      'the same before honest ones',
      { eve: { ...honest, runs: 'other' }, ann: honest, ben: honest },
      {},
      [/^claimed: .*does not answer by it/, /^pinned/, /^pinned/],
    ],
    [
      'chunks of another file',
      { eve: { ...honest, chunk: (chunk) => ({ ...chunk, part: new Uint8Array(chunk.part.byteLength) }) } },
      { pin: true },
      [/^claimed: .*not of the file/, /^eve: chunks/],
    ],
  ];
  for (const [what, workers, by, expected] of cases)
    it(`are proved or not: ${what}`, async () => {
      const { levels, breaches } = await checked(workers, by);
      const found = [...levels, ...new Set(breaches)];
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(found[i] ?? '', pattern);
    });

  it('prove each chunk of their file, by its size too, and a damaged cache is computed again', async () => {
    const { right, other } = trees;
    const isIn = (chunk: Chunk, index: number, sizeBytes = right.sizeBytes) =>
      isChunkOf(chunk, { treeSha256: right.digest, sizeBytes, index });
    for (let index = 0; index < 5; index += 1) {
      const chunk = await chunkOf(right, index);
      const wrong = [
        { ...chunk, path: new Uint8Array(1) },
        { ...chunk, part: chunk.part.subarray(1) },
        await chunkOf(other, index),
      ];
      assert.deepEqual(
        [isIn(chunk, index), isIn(chunk, (index + 1) % 5), ...wrong.map((each) => isIn(each, index))],
        [true, false, false, false, false],
      );
      assert.ok(!isIn({ ...chunk, sizeBytes: right.sizeBytes - CHUNK_BYTES }, index, right.sizeBytes - CHUNK_BYTES));
    }
    const cache = path.join(directory.path, 'right.tree');
    const damaged = await readFile(cache);
    damaged[40] = 1 ^ (damaged[40] ?? 0);
    await writeFile(cache, damaged);
    assert.equal((await openFileTree(path.join(directory.path, 'right'), { cache })).digest, right.digest);
  });
});
