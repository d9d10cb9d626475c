// Checks of workers of a pinned model: which are pinned, which are only claimed and why, and which lies are breaches.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { CHUNK_BYTES, type Engine, type FileTree, openFileTree } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import { pino } from 'pino';
import { randomFrom, temporaryDirectory, until } from '../../../../../tests/support/index.ts';
import { offeredModel } from '../../test/network/answers.ts';
import { reputationsMap } from '../../test/network/audited-network.ts';
import { ownVerifier } from '../audit/audit-panel.ts';
import { ReputationRecorder } from '../audit/reputation-recorder.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { isChunkOf } from './file-proof.ts';
import { Proofs } from './proofs.ts';
import { trial } from './trial.ts';

const SHA256 = 'a'.repeat(64);
const SIZE = 5 * CHUNK_BYTES - 7;
const engines = { right: createSimulatedEngine(), other: createSimulatedEngine({ modelSeed: 2 }) };
type Chunk = Awaited<ReturnType<WorkerSession['chunk']>>;
/** The model behind a worker, and the file that it offers; `none` for an earlier version. */
type Worker = { runs: 'right' | 'other'; has: 'right' | 'other' | 'none'; chunk?: (right: Chunk) => Chunk };
const honest: Worker = { runs: 'right', has: 'right' };
const empty = (chunk: Chunk) => ({ ...chunk, part: new Uint8Array(chunk.part.byteLength) });

/** The trees of two files, and the directory with their caches. */
async function files() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const treeOf = (name: string) =>
    openFileTree(path.join(directory, name), { cache: path.join(directory, `${name}.tree`) });
  for (const name of ['right', 'other']) await writeFile(path.join(directory, name), Buffer.alloc(SIZE, name));
  const trees = { right: await treeOf('right'), other: await treeOf('other') };
  return Object.assign(stack.move(), { directory, treeOf, trees });
}

const chunkOf = async ({ root, ...tree }: FileTree, index: number): Promise<Chunk> => {
  const { bytes: part, path: siblings } = await tree.chunk(index);
  const rootSha256 = Buffer.from(root).toString('hex');
  return { kind: 'chunk', id: 1, sizeBytes: tree.sizeBytes, rootSha256, part, path: siblings };
};

/** The level of each worker once all are checked, with the reason; and the breaches. */
async function checked(
  workers: Readonly<Record<string, Worker>>,
  by: 'agreement' | 'pin' | 'own',
  reputations = reputationsMap(),
) {
  await using world = await files();
  const { trees } = world;
  const breaches = new Set<string>();
  const connected = Object.entries(workers).map(([peer, { has, chunk = (right: Chunk) => right }]) => {
    const ask = async (_: string, index: number) => chunk(await chunkOf(trees.right, index));
    const session = { peer, isAlive: true, chunk: ask } as Partial<WorkerSession> as WorkerSession;
    const tree = has === 'none' ? {} : { fileTreeSha256: trees[has].digest };
    return { session, offer: offeredModel({ sha256: SHA256, sizeBytes: SIZE, ...tree }) };
  });
  const engineOf = (peer: string) => engines[workers[peer]?.runs ?? 'right'] as unknown as Engine;
  const clock = { nowMs: 0 };
  const [logger, nowMs] = [pino({ level: 'silent' }), () => clock.nowMs];
  await using records = await ReputationRecorder.open({ reputations, logger, nowMs });
  await using proofs = new Proofs([SHA256], {
    records,
    workers: () => connected,
    knownTree: async () =>
      by === 'agreement' ? undefined : { digest: trees.right.digest, source: 'known', isCertain: by === 'own' },
    ownVerifier: () => (by === 'own' ? ownVerifier(engineOf('')) : undefined),
    workerVerifier: ({ peer }) => ({ ...ownVerifier(engineOf(peer)), peer }),
    trial: ({ session }, options) => trial(engineOf(session.peer), { ...options, vocabularySize: 4_096 }),
    breach: (peer, reason) => void breaches.add(`${peer}: ${reason}`),
    ...{ onChange: () => {}, logger, nowMs, random: randomFrom(1) },
  });
  const levels = () => Object.keys(workers).map((peer) => proofs.of(peer, SHA256) ?? assert.fail());
  assert.ok(levels().every(({ level }) => level === 'claimed') && !proofs.of('ann', 'b'.repeat(64)));
  for (let round = 0; round < 3; round += 1, clock.nowMs += 3_000) {
    proofs.check();
    await until(() => levels().every(({ reason }) => !/has not proved/.test(reason)), { intervalMs: 1 });
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return [...levels().map(({ level, reason }) => `${level}: ${reason}`), ...breaches].join('\n');
}

const eve = (more: Partial<Worker>) => ({ eve: { ...honest, ...more } });
const cases: readonly (readonly [string, Parameters<typeof checked>[0], Parameters<typeof checked>[1], RegExp])[] = [
  ['two that agree', { ann: honest, ben: honest }, 'agreement', /^pinned: .*2 workers agree.*\npinned: .*$/],
  ['one alone', { ann: honest }, 'agreement', /^claimed: nothing to compare.*$/],
  ['one alone, whose tree the pin names', { ann: honest }, 'pin', /^claimed: .*no other copy.*$/],
  ['one and an own copy', { ann: honest }, 'own', /^pinned: .*this gateway's copy.*$/],
  ['an earlier version', eve({ has: 'none' }), 'own', /^claimed: the version.*$/],
  ['another file', eve({ runs: 'other', has: 'other' }), 'own', /^claimed: .*another file.*\neve: another file.*$/],
  ['another file than the pin names', eve({ runs: 'other', has: 'other' }), 'pin', /^claimed: .*another file: known$/],
  ['chunks of another file', eve({ chunk: empty }), 'pin', /^claimed: .*not of the file\neve: chunks.*$/],
  ['the right file, another model', eve({ runs: 'other' }), 'own', /^claimed: .*does not answer by it$/],
];
for (const [what, workers, by, expected] of cases)
  it(`workers of a pinned model are proved or not: ${what}`, async () =>
    assert.match(await checked(workers, by), expected));

it('after a restart, a worker that had proved its file is asked for two chunks, not for sixteen', async () => {
  const reputations = reputationsMap();
  let asked = 0;
  const ann = { ...honest, chunk: (right: Chunk) => ({ ...right, id: ++asked }) };
  assert.match(await checked({ ann }, 'own', reputations), /^pinned/);
  assert.equal(asked, 16);
  assert.match(await checked({ ann }, 'own', reputations), /^pinned/);
  assert.equal(asked, 18);
});

it('each chunk of a file proves itself, and a damaged cache is computed again', async () => {
  await using world = await files();
  const { right, other } = world.trees;
  const isIn = (chunk: Chunk, index: number, sizeBytes = SIZE) =>
    isChunkOf(chunk, { treeSha256: right.digest, sizeBytes, index });
  for (let index = 0; index < 5; index += 1) {
    const chunk = await chunkOf(right, index);
    const wrong = [{ ...chunk, path: new Uint8Array(1) }, empty(chunk), await chunkOf(other, index)];
    assert.ok(isIn(chunk, index) && !isIn(chunk, (index + 1) % 5) && !wrong.some((each) => isIn(each, index)));
    const short = { ...chunk, sizeBytes: SIZE - CHUNK_BYTES };
    assert.ok(!isIn(short, index, short.sizeBytes), 'the size is proved too');
  }
  const cache = path.join(world.directory, 'right.tree');
  const damaged = await readFile(cache);
  damaged[40] = 1 ^ (damaged[40] ?? 0);
  await writeFile(cache, damaged);
  assert.equal((await world.treeOf('right')).digest, right.digest);
});
