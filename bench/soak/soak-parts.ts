// What the soak runs: a simulated internet whose companies move, a node that does everything, and on PostgreSQL one that answers beside it.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { openStore } from '@strata/stack/store';
import { startPostgres } from '../../tests/support/database/postgres.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type BenchInternet, startInternet } from '../internet.ts';
import { type ShortDays, shortDays } from '../load/days.ts';
import { type LoadedNode, nodesOn } from '../load/nodes-on.ts';

export interface SoakParts extends AsyncDisposable {
  readonly nodes: readonly LoadedNode[];
  readonly key: string;
  readonly followed: readonly string[];
  readonly unheard: readonly string[];
  databaseBytes(): Promise<number>;
  /** As an operator takes one, from a process of its own; how long it took. */
  backup(): Promise<number>;
}

export interface SoakOptions {
  readonly isPostgres: boolean;
  readonly days: ShortDays;
  readonly domains: number;
}

/** Of the companies, those that are in no list. */
const UNHEARD = 40;
/** A company in a hundred changes something on a day. */
const MIGRATION_SHARE = 0.01;
const MAIN = path.join(import.meta.dirname, '../../services/cli/src/main.ts');

export async function startSoak({ isPostgres, days, domains }: SoakOptions): Promise<SoakParts> {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryDirectory());
  const server = isPostgres ? stack.use(await startPostgres({ fsync: 'on', shared_buffers: '128MB' })) : undefined;
  const file = path.join(directory, 'strata.db');
  const databaseUrl = (await server?.fresh()) ?? `sqlite:${file}`;
  const internet = stack.use(await startInternet({ domains, migrationShare: MIGRATION_SHARE, days }));
  const names = internet.ready.domains;
  const [followed, unheard] = [names.slice(0, -UNHEARD), names.slice(-UNHEARD)];
  const key = await fill(databaseUrl, { now: shortDays(days), followed, feeds: internet.ready.feeds });

  const settings = {
    // A day comes every few seconds: once on each.
    STRATA_ADVISORY_HOURS: '24',
    STRATA_FREE_KEYS_PER_DAY: '1000000',
    STRATA_ON_DEMAND_PER_HOUR: '1000000',
    STRATA_ADVISORIES: '',
    STRATA_FEEDS: 'on',
    ...internet.ready.publishers,
  };
  const running = stack.use(await nodesOn(databaseUrl));
  const nodes: LoadedNode[] = [];
  for (const role of isPostgres ? (['all', 'api'] as const) : (['all'] as const))
    nodes.push(await running.start(role, { settings, internet: internet.ready, days }));
  const owned = stack.move();
  return {
    ...{ nodes, key, followed, unheard },
    async databaseBytes() {
      if (server) {
        const { rows } = await server.sql(
          'select pg_database_size(current_database())',
          new URL(databaseUrl).pathname.slice(1),
        );
        return Number(rows[0]?.pg_database_size);
      }
      const sizes = [file, `${file}-wal`].map(async (each) => (await stat(each).catch(() => ({ size: 0 }))).size);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    async backup() {
      const startedAt = performance.now();
      const env = { ...process.env, ...nodes[0]?.settings };
      await promisify(execFile)(process.execPath, [MAIN, 'stack', 'backup', path.join(directory, 'backup')], { env });
      return performance.now() - startedAt;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Filling {
  readonly now: () => Date;
  readonly followed: readonly string[];
  readonly feeds: BenchInternet['feeds'];
}

/** Returns a key without a limit. */
async function fill(databaseUrl: string, { now, followed, feeds }: Filling): Promise<string> {
  await using store = await openStore(databaseUrl, { now });
  await store.domains.add(followed, { source: 'bench' });
  await store.feeds.add(
    feeds.map(({ url }) => ({ url })),
    now(),
  );
  return (await store.keys.create({ tier: 'unlimited' })).key;
}
