// Checks the database: reachable, schema version, latency, free connections, clock.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { type InspectedSchema, inspectStore, StoreError, type StoreState, type TableGrowth } from '@strata/db';
import type { Config } from '@strata/stack';
import { stackSchema } from '@strata/stack/store';
import { type Finding, bytes as inUnits, ok, problem, warning } from './finding.ts';

/** Above this latency, users notice the delay of each uncached request. */
const SLOW_MS = 20;
/** Times in receipts and leases must agree between machines. */
const MAX_SKEW_MS = 1_000;

export interface DatabaseCheck {
  readonly state: StoreState | undefined;
  readonly findings: readonly Finding[];
}

export interface DatabaseNeeds {
  readonly schema: InspectedSchema;
  /** What the rows of the main table are. */
  readonly counts: string;
  /** Of the address. */
  readonly setting: string;
  /** Connections to PostgreSQL that this process may open, for pools and locks. */
  readonly connections: number;
  /** Whether it may hold a session lock, as a scheduler and a gateway do. */
  readonly needsSession: boolean;
  /** The service creates this folder when it starts. */
  readonly dataDirectory: string;
}

/** The largest tables. */
const SHOWN_TABLES = 5;
/** Pool size for the ledger, in processes that sign. */
const LEDGER_CONNECTIONS = 3;

/** The needs of a process in this role. */
export function needsOf({
  role,
  databaseConnections,
  dataDirectory,
}: Pick<Config, 'role' | 'databaseConnections' | 'dataDirectory'>): DatabaseNeeds {
  const needsSession = role === 'all' || role === 'scheduler';
  const ledger = role === 'scanner' ? 0 : LEDGER_CONNECTIONS;
  const connections = databaseConnections + ledger + (needsSession ? 1 : 0);
  const store = { schema: stackSchema, counts: 'domains', setting: 'STRATA_DATABASE_URL' };
  return { ...store, connections, needsSession, dataDirectory };
}

export async function checkDatabase(url: string, needs: DatabaseNeeds): Promise<DatabaseCheck> {
  const check = 'database';
  let state: StoreState;
  try {
    state = await inspectStore(needs.schema, url);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const means = error.code === 'corrupt' ? 'The data is unreliable.' : 'The service cannot start.';
    const todo = /corrupt|not-a/.test(error.code)
      ? 'Stop the service and restore a backup ("Back up" in docs/operations.md).'
      : `Check ${needs.setting} and the server.`;
    return { state: undefined, findings: [problem(check, { found: error.message, means, todo })] };
  }
  if (state.kind === 'sqlite' && !state.isWritable) return { state, findings: unwritable(url, needs) };
  return { state, findings: judge(state, needs) };
}

function unwritable(url: string, { dataDirectory, setting }: DatabaseNeeds): Finding[] {
  const file = path.resolve(url.slice('sqlite:'.length));
  const folder = path.dirname(file);
  const isCreatedAtStart = !existsSync(folder) && folder === path.resolve(dataDirectory);
  if (isCreatedAtStart) return [ok('database', 'sqlite: does not exist yet; the first start creates it')];
  return [
    problem('database', {
      found: existsSync(folder) ? `${file} is not writable` : `the folder ${folder} does not exist`,
      means: 'The service cannot start, or cannot record anything.',
      todo: existsSync(folder)
        ? 'Give the user of the service write permission for the file and its folder.'
        : `Create the folder, or correct ${setting}.`,
    }),
  ];
}

const OF_LIMIT = {
  server: { of: 'of the server', todo: 'Raise max_connections' },
  database: { of: 'of the database', todo: 'Raise its limit (alter database … connection limit …)' },
  user: { of: 'of the user', todo: 'Raise its limit (alter role … connection limit …)' },
} as const;

function judge(
  { kind, schema, latencyMs, counted, sizes, isWritable, connections, clockAheadMs, hasSessions }: StoreState,
  needs: DatabaseNeeds,
) {
  const check = 'database';
  const findings: Finding[] = [];
  if (schema === 'newer')
    findings.push(
      problem(check, {
        found: 'the schema is of a newer version of Strata',
        means: 'The service does not start.',
        todo: 'Update Strata; a schema cannot be downgraded.',
      }),
    );
  if (!isWritable)
    findings.push(
      problem(check, {
        found: 'tables cannot be created or written',
        means: 'Nothing can be recorded, and a new version cannot migrate the schema.',
        todo: 'Give the user CREATE on the schema (alter database … owner to …), and connect to the primary, not a replica.',
      }),
    );
  if (!hasSessions && needs.needsSession)
    findings.push(
      problem(check, {
        found: 'a connection pooler is in transaction mode',
        means: 'The lock of the active scheduler or gateway needs a session: two would be active, or none.',
        todo: 'Connect to PostgreSQL directly, or use session mode in the pooler (pool_mode = session).',
      }),
    );
  if (connections && connections.max - connections.used < needs.connections)
    findings.push(
      warning(check, {
        found: `${connections.used} of ${connections.max} connections ${OF_LIMIT[connections.limitOf].of} are used; this process may open ${needs.connections}`,
        means:
          'Under load, requests fail without a free connection, unless this process is running and counted already.',
        todo: `${OF_LIMIT[connections.limitOf].todo}, or lower the settings for connections of each process.`,
      }),
    );
  if (clockAheadMs !== undefined && Math.abs(clockAheadMs) > MAX_SKEW_MS)
    findings.push(
      warning(check, {
        found: `the clock of the server is ${(Math.abs(clockAheadMs) / 1_000).toFixed(1)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine`,
        means: 'Leases and times of the machines do not agree.',
        todo: 'Enable a time service on both.',
      }),
    );
  if (latencyMs > SLOW_MS)
    findings.push(
      warning(check, {
        found: `a query takes ${latencyMs.toFixed(1)} ms`,
        means: 'Uncached answers and scans need many queries.',
        todo: 'Run the service closer to the database server.',
      }),
    );
  if (sizes.length > 0) findings.push(ok('tables', sizes.slice(0, SHOWN_TABLES).map(growthText).join('; ')));
  if (findings.some(({ status }) => status !== 'ok')) return findings;
  const content =
    schema === 'empty' ? 'empty; the first start creates the tables' : `schema ${schema}, ${counted} ${needs.counts}`;
  const left = connections ? `, ${connections.used} of ${connections.max} connections used` : '';
  const speed = kind === 'postgres' ? `, ${latencyMs.toFixed(1)} ms a query` : ', no damage found';
  return [ok(check, `${kind}: ${content}${schema === 'empty' && kind === 'sqlite' ? '' : speed}${left}`), ...findings];
}

/** `scans 1200000 rows, 90 MiB, 10000 rows more a day`. */
function growthText({ table, rows, bytes, rowsPerDay }: TableGrowth): string {
  const growth = rowsPerDay === null ? [] : [`${Math.abs(rowsPerDay)} rows ${rowsPerDay < 0 ? 'fewer' : 'more'} a day`];
  return [`${table} ${rows} rows`, ...(bytes === null ? [] : [inUnits(bytes)]), ...growth].join(', ');
}
