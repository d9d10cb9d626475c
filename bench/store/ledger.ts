// Durable leaves a second: in a SQLite file, against one write and fdatasync for each leaf, which a log without group commit would do; and
// of one and two nodes that share a ledger in PostgreSQL, each a process.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import {
  askChild,
  type Child,
  type Figure,
  median,
  perSecond,
  rateAtOnce,
  setting,
  startChild,
  thousands,
} from '../measure.ts';
import type { LedgerNodeOptions, LedgerRun } from './ledger-process.ts';

const RUN_MS = setting('SECONDS', 4) * 1_000;
const RUNS = 3;
const WARM_UP: LedgerRun = { concurrency: 256, runMs: 2_000 };
/** About the size of a receipt's leaf. */
const LEAF_BYTES = 380;
const GOAL = 'goal 10,000/s';

export async function benchLedger(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const start = (options: Pick<LedgerNodeOptions, 'file' | 'url'>) =>
    startChild<object>(new URL('./ledger-process.ts', import.meta.url), { ...options, key, leafBytes: LEAF_BYTES });
  const figures: Figure[] = [];
  await using single = await start({ file: `${directory.path}/ledger.db` });
  for (const concurrency of [1, 64, 512]) {
    const runs: { readonly log: number; readonly ratio: number }[] = [];
    while (runs.length < RUNS) {
      const log = await rateOf([single], concurrency);
      runs.push({ log, ratio: log / (await plainRate(`${directory.path}/plain-${concurrency}-${runs.length}`)) });
    }
    const ratio = median(runs.map((run) => run.ratio));
    const against = `${ratio.toFixed(1)} × one fdatasync a leaf${concurrency > 1 ? `; ${GOAL}` : ''}`;
    figures.push([`SQLite: ${concurrency} at once`, perSecond(median(runs.map(({ log }) => log))), against]);
  }
  if (!binaries) return [...figures, ['PostgreSQL', 'skipped', notice]];
  // As a real server is set: a commit is on the disk.
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB' });
  const url = await server.fresh();
  await using one = await start({ url });
  await using two = await start({ url });
  await Promise.all([one, two].map((node) => askChild(node, WARM_UP)));
  for (const nodes of [[one], [one, two]])
    for (const concurrency of [64, 512, 4_096]) {
      const what = `PostgreSQL, ${nodes.length === 1 ? 'one node' : 'two nodes'}: ${thousands(concurrency)} at once`;
      figures.push([what, perSecond(await rateOf(nodes, concurrency)), nodes.length > 1 ? GOAL : '']);
    }
  return figures;
}

/** Of all nodes together, which share the appends in flight. */
async function rateOf(nodes: readonly Child<object>[], concurrency: number): Promise<number> {
  const run: LedgerRun = { concurrency: concurrency / nodes.length, runMs: RUN_MS };
  const rates = await Promise.all(nodes.map((node) => askChild<number>(node, run)));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

async function plainRate(file: string): Promise<number> {
  await using handle = await open(file, 'a');
  return await rateAtOnce(1, RUN_MS, async () => {
    await handle.write(randomBytes(LEAF_BYTES));
    await handle.datasync();
  });
}
