// Durable leaves a second of one and two nodes that share a ledger in PostgreSQL, each a process; and how long one append alone takes.
import { generateKeyPairSync } from 'node:crypto';
import { startPostgres } from '../../tests/support/database/postgres.ts';
import { askChild, type Child, type Figure, median, perSecond, quantile, startChild } from '../measure.ts';
import type { LedgerNodeOptions, LedgerRun, LedgerRunResult } from './ledger-node-process.ts';

const RUN_MS = 5_000;
const WARM_UP_MS = 2_000;
/** Appends in flight in all nodes together. */
const CONCURRENCY = [64, 512, 4_096] as const;

export async function benchLedgerNodes(leafBytes: number): Promise<Figure[]> {
  // As a real server is set: a commit is on the disk.
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB' });
  const url = await server.fresh();
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const options: LedgerNodeOptions = { url, key, leafBytes };
  await using one = await startChild<object>(new URL('./ledger-node-process.ts', import.meta.url), options);
  await using two = await startChild<object>(new URL('./ledger-node-process.ts', import.meta.url), options);
  await runOn([one, two], { concurrency: 256, runMs: WARM_UP_MS });

  const { latencies } = await runOn([one], { concurrency: 1, runMs: RUN_MS });
  const rows: Figure[] = [
    {
      what: 'in PostgreSQL: one append alone, p50 (p99)',
      value: `${median(latencies).toFixed(1)} ms (${quantile(latencies, 0.99).toFixed(1)})`,
      against: 'one fdatasync, and four questions to the server',
    },
  ];
  for (const nodes of [[one], [one, two]]) {
    for (const concurrency of CONCURRENCY) {
      const run = await runOn(nodes, { concurrency: concurrency / nodes.length, runMs: RUN_MS });
      const { leaves, commits } = run;
      rows.push({
        what: `in PostgreSQL: durable leaves, ${nodes.length === 1 ? 'one node' : 'two nodes'}, ${concurrency.toLocaleString('en-US')} at once`,
        value: perSecond((leaves * 1_000) / run.wallMs),
        against: `${Math.round(leaves / commits)} leaves a commit${nodes.length > 1 ? '; goal 10,000/s' : ''}`,
      });
    }
  }
  const { rows: sizes } = await server.sql(
    'select (sum(pg_total_relation_size(relid)) / (select count(*) from ledger_leaves))::int as bytes from pg_stat_user_tables',
    new URL(url).pathname.slice(1),
  );
  rows.push({
    what: 'in PostgreSQL: bytes a leaf, indexes and hashes included',
    value: String(sizes[0]?.bytes),
    against: `${leafBytes} of the leaf itself`,
  });
  return rows;
}

async function runOn(nodes: readonly Child<object>[], run: LedgerRun): Promise<LedgerRunResult & { wallMs: number }> {
  const startedAt = performance.now();
  const results = await Promise.all(nodes.map((node) => askChild<LedgerRunResult>(node, run)));
  const sum = (of: (result: LedgerRunResult) => number) => results.reduce((total, each) => total + of(each), 0);
  return {
    leaves: sum(({ leaves }) => leaves),
    commits: sum(({ commits }) => commits),
    latencies: results.flatMap(({ latencies }) => latencies),
    wallMs: performance.now() - startedAt,
  };
}
