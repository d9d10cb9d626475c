// Several real processes on one PostgreSQL database, each in its role and with a data directory of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { rotateSigningKeys } from '@strata/log';
import { temporaryDirectory } from './temporary-directory.ts';
import { untilAnswer } from './until.ts';

export type NodeRole = 'all' | 'api' | 'scanner' | 'scheduler';

export type TestNodes = Awaited<ReturnType<typeof testNodes>>;
export type TestNode = Awaited<ReturnType<TestNodes['start']>>;

interface NodeOptions {
  readonly databaseUrl: string;
  /** Companies of the simulated internet that scanners see, and API nodes where they can scan on demand. */
  readonly domains: number;
  readonly canApiScan?: boolean;
}

const PROGRAM = path.join(import.meta.dirname, 'role-process.ts');

export async function testNodes({ databaseUrl, domains, canApiScan = false }: NodeOptions) {
  const { path: directory, remove } = await temporaryDirectory();
  const keys = path.join(directory, 'of-all');
  await rotateSigningKeys(keys, () => new Date(), { origin: 'nodes.test/stack' });
  const kills: (() => Promise<unknown>)[] = [];
  let count = 0;
  return {
    async start(role: NodeRole, settings: Readonly<Record<string, string>> = {}) {
      count += 1;
      const own = settings.STRATA_DATA ?? path.join(directory, `${role}-${count}`);
      // As a secret that is mounted: one ledger of all has one key. A directory that is used again has its own.
      if (!existsSync(path.join(own, 'keys')))
        await cp(path.join(keys, 'keys'), path.join(own, 'keys'), { recursive: true });
      const env = {
        ...process.env,
        ...{ STRATA_DATA: own, STRATA_DATABASE_URL: databaseUrl, STRATA_DATABASE_CONNECTIONS: '5', STRATA_ROLE: role },
        ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' },
        // The days of scans in tests are long past.
        ...{ STRATA_LOG_LEVEL: 'info', STRATA_RETENTION_DAYS: 'events=3650', ...settings },
      };
      const canScan = role === 'scanner' || role === 'all' || (role === 'api' && canApiScan);
      const child = spawn(process.execPath, [PROGRAM, canScan ? String(domains) : '0'], { env, stdio: 'pipe' });
      const exited = once(child, 'exit');
      const end = async (signal: NodeJS.Signals) => {
        child.kill(signal);
        return ((await exited) as [number | null])[0];
      };
      const kill = () => end('SIGKILL');
      kills.push(kill);
      let log = '';
      child.stderr.on('data', (chunk) => {
        log += chunk;
      });
      const lines = createInterface({ input: child.stdout });
      const [line] = (await Promise.race([once(lines, 'line'), exited])) as unknown[];
      if (typeof line !== 'string') throw new Error(`the ${role} did not start: ${log}`);
      const { port, metricsPort } = JSON.parse(line) as { readonly port?: number; readonly metricsPort: number };
      return {
        ...{ role, child, log: () => log, kill },
        /** Of its API, or of its metrics where it has none. */
        base: `http://127.0.0.1:${port ?? metricsPort}`,
        metricsBase: `http://127.0.0.1:${metricsPort}`,
        /** Ends it in order; resolves with the exit code. */
        stop: () => end('SIGTERM'),
      };
    },
    async [Symbol.asyncDispose]() {
      // One that has ended is not signalled.
      await Promise.all(kills.map((kill) => kill()));
      await remove();
    },
  };
}

/** The scheduler that works. */
export function working(schedulers: readonly TestNode[]): Promise<TestNode> {
  const isWorking = async ({ metricsBase }: TestNode) => {
    const state = (await (await fetch(`${metricsBase}/ready`)).json()) as { readonly is_working?: boolean };
    return state.is_working === true;
  };
  const ask = async () => {
    const states = await Promise.all(schedulers.map(isWorking));
    return schedulers.filter((_, i) => states[i]);
  };
  return untilAnswer('one scheduler works', ask, ({ length }) => length === 1).then(([node]) => node as TestNode);
}
