// Whether the database can be used: reached, of this version, quick, with connections left, its clock as ours.
import { inspectStore, StoreError, type StoreState } from '@strata/store';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Slower than this, and every uncached request is felt to wait. */
const SLOW_MS = 20;
/** Times in receipts and leases must agree between machines. */
const MOST_SKEW_MS = 1_000;

export interface DatabaseCheck {
  readonly state: StoreState | undefined;
  readonly findings: readonly Finding[];
}

/** `poolSize`: connections that this process would open. */
export async function checkDatabase(url: string, { poolSize }: { readonly poolSize: number }): Promise<DatabaseCheck> {
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
  return { state, findings: judge(state, poolSize) };
}

function judge(
  { kind, schema, latencyMs, domains, isWritable, connections, clockAheadMs }: StoreState,
  poolSize: number,
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
  if (connections && connections.most - connections.used < poolSize)
    findings.push(
      warning(check, {
        found: `${connections.used} of ${connections.most} connections are used; this process may open ${poolSize} more`,
        means: 'Under load requests would fail for want of a connection.',
        todo: 'Raise max_connections, or lower STRATA_DATABASE_CONNECTIONS of each process.',
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
  if (findings.length > 0) return findings;
  const held = schema === 'empty' ? 'empty, the first start fills it' : `schema ${schema}, ${domains} domains`;
  const left = connections ? `, ${connections.used} of ${connections.most} connections used` : '';
  const speed = kind === 'postgres' ? `, ${latencyMs.toFixed(1)} ms a question` : ', the file is sound';
  return [ok(check, `${kind}: ${held}${schema === 'empty' && kind === 'sqlite' ? '' : speed}${left}`)];
}
