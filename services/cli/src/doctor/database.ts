// Whether the database can be used: reached, of this version, quick, with connections left, its clock as ours.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '@strata/stack';
import { inspectStore, StoreError, type StoreState, type TableGrowth } from '@strata/store';
import { type Finding, bytes as inUnits, ok, problem, warning } from './finding.ts';

/** Slower than this, and every uncached request is felt to wait. */
const SLOW_MS = 20;
/** Times in receipts and leases must agree between machines. */
const MOST_SKEW_MS = 1_000;

export interface DatabaseCheck {
  readonly state: StoreState | undefined;
  readonly findings: readonly Finding[];
}

export interface DatabaseNeeds {
  /** Connections that this process may open to PostgreSQL, its pools and its locks together. */
  readonly connections: number;
  /** Whether it may hold a lock of a session: a scheduler, a gateway. */
  readonly needsSession: boolean;
  /** The service makes this folder itself when it starts. */
  readonly dataDirectory: string;
}

/** Of the largest. */
const SHOWN_TABLES = 5;
/** The pool for the ledger, of whoever signs. */
const LEDGER_CONNECTIONS = 3;

/** Of a process in this role. */
export function needsOf({
  role,
  databaseConnections,
  dataDirectory,
}: Pick<Config, 'role' | 'databaseConnections' | 'dataDirectory'>): DatabaseNeeds {
  const needsSession = role === 'all' || role === 'scheduler';
  const ledger = role === 'scanner' ? 0 : LEDGER_CONNECTIONS;
  return { connections: databaseConnections + ledger + (needsSession ? 1 : 0), needsSession, dataDirectory };
}

export async function checkDatabase(url: string, needs: DatabaseNeeds): Promise<DatabaseCheck> {
  const check = 'database';
  let state: StoreState;
  try {
    state = await inspectStore(url);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const means = error.code === 'corrupt' ? 'What is in it cannot be relied on.' : 'The service cannot start.';
    const todo = /corrupt|not-a/.test(error.code)
      ? 'Stop the service and restore a backup (docs/operations.md, Back up).'
      : 'Check STRATA_DATABASE_URL and the server.';
    return { state: undefined, findings: [problem(check, { found: error.message, means, todo })] };
  }
  if (state.kind === 'sqlite' && !state.isWritable) return { state, findings: unwritable(url, needs) };
  return { state, findings: judge(state, needs) };
}

function unwritable(url: string, { dataDirectory }: DatabaseNeeds): Finding[] {
  const file = path.resolve(url.slice('sqlite:'.length));
  const folder = path.dirname(file);
  const isMade = !existsSync(folder) && folder === path.resolve(dataDirectory);
  if (isMade) return [ok('database', 'sqlite: none yet, the first start makes it')];
  return [
    problem('database', {
      found: existsSync(folder) ? `${file} cannot be written here` : `the folder ${folder} is not there`,
      means: 'The service cannot start, or would record nothing.',
      todo: existsSync(folder)
        ? 'Give the user of the service the right to write the file, and into its folder.'
        : 'Make the folder, or mend STRATA_DATABASE_URL.',
    }),
  ];
}

const OF_LIMIT = {
  server: { of: 'of the server', todo: 'Raise max_connections' },
  database: { of: 'that the database allows', todo: 'Raise its limit (alter database … connection limit …)' },
  user: { of: 'that the user may open', todo: 'Raise its limit (alter role … connection limit …)' },
} as const;

function judge(
  { kind, schema, latencyMs, domains, sizes, isWritable, connections, clockAheadMs, hasSessions }: StoreState,
  needs: DatabaseNeeds,
) {
  const check = 'database';
  const findings: Finding[] = [];
  if (schema === 'newer')
    findings.push(
      problem(check, {
        found: 'its schema is of a newer version of Strata',
        means: 'The service refuses to start.',
        todo: 'Update this one; a database is never brought back to an older version.',
      }),
    );
  if (!isWritable)
    findings.push(
      problem(check, {
        found: 'tables cannot be made or written',
        means: 'Nothing would be recorded, and a new version could not bring the schema up to date.',
        todo: 'Give the user CREATE on its schema (alter database … owner to …), and name the primary, not a replica.',
      }),
    );
  if (!hasSessions && needs.needsSession)
    findings.push(
      problem(check, {
        found: 'a pooler gives each transaction another connection of the server',
        means:
          'The lock that says who is the scheduler, or the gateway, needs a session: two would work at once, or none.',
        todo: 'Connect to PostgreSQL directly, or let the pooler give each client a session of its own (pool_mode = session).',
      }),
    );
  if (connections && connections.max - connections.used < needs.connections)
    findings.push(
      warning(check, {
        found: `${connections.used} of ${connections.max} connections ${OF_LIMIT[connections.limitOf].of} are used; this process may open ${needs.connections}`,
        means:
          'Unless it runs already and is among those that are used, requests would fail under load for want of a connection.',
        todo: `${OF_LIMIT[connections.limitOf].todo}, or lower the settings for connections of each process.`,
      }),
    );
  if (clockAheadMs !== undefined && Math.abs(clockAheadMs) > MOST_SKEW_MS)
    findings.push(
      warning(check, {
        found: `its clock is ${(Math.abs(clockAheadMs) / 1_000).toFixed(1)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine's`,
        means: 'Leases and times of different machines would not agree.',
        todo: 'Run a time service on both.',
      }),
    );
  if (latencyMs > SLOW_MS)
    findings.push(
      warning(check, {
        found: `a question takes ${latencyMs.toFixed(1)} ms`,
        means: 'Answers that are not in memory, and scans, take many such questions.',
        todo: 'Bring the service nearer to the server.',
      }),
    );
  if (sizes.length > 0) findings.push(ok('tables', sizes.slice(0, SHOWN_TABLES).map(sizeInWords).join('; ')));
  if (findings.some(({ status }) => status !== 'ok')) return findings;
  const held = schema === 'empty' ? 'empty, the first start fills it' : `schema ${schema}, ${domains} domains`;
  const left = connections ? `, ${connections.used} of ${connections.max} connections used` : '';
  const speed = kind === 'postgres' ? `, ${latencyMs.toFixed(1)} ms a question` : ', the file is sound';
  return [ok(check, `${kind}: ${held}${schema === 'empty' && kind === 'sqlite' ? '' : speed}${left}`), ...findings];
}

/** `scans 1200000 rows, 90 MiB, 10000 rows more a day`. */
function sizeInWords({ table, rows, bytes, rowsPerDay }: TableGrowth): string {
  const growth = rowsPerDay === null ? [] : [`${Math.abs(rowsPerDay)} rows ${rowsPerDay < 0 ? 'fewer' : 'more'} a day`];
  return [`${table} ${rows} rows`, ...(bytes === null ? [] : [inUnits(bytes)]), ...growth].join(', ');
}
