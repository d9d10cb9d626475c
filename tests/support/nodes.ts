// Several real processes on one PostgreSQL database, each in its role and with a data directory of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { rotateSigningKeys } from '@strata/log';
import { untilAnswer } from './until.ts';

export type NodeRole = 'all' | 'api' | 'scanner' | 'scheduler';

export interface TestNode {
  readonly role: NodeRole;
  readonly child: ChildProcess;
  /** Of its API, or of its metrics where it has none. */
  readonly base: string;
  readonly metricsBase: string;
  /** What it wrote to standard error, its log. */
  readonly log: () => string;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Ends it in order; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface TestNodes extends AsyncDisposable {
  start(role: NodeRole, settings?: Readonly<Record<string, string>>): Promise<TestNode>;
}

export interface NodeOptions {
  readonly databaseUrl: string;
  /** Companies of the simulated internet that scanners see. */
  readonly domains: number;
  /** Whether API nodes see them too, and can scan on demand; else they see none. */
  readonly isApiSeeing?: boolean;
}

const PROGRAM = path.join(import.meta.dirname, 'role-process.ts');

export async function testNodes({ databaseUrl, domains, isApiSeeing = false }: NodeOptions): Promise<TestNodes> {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-roles-'));
  const keys = path.join(directory, 'of-all');
  await rotateSigningKeys(keys, () => new Date());
  const nodes: TestNode[] = [];
  let count = 0;
  return {
    async start(role, settings = {}) {
      count += 1;
      const own = path.join(directory, `${role}-${count}`);
      // As a secret that is mounted: one ledger of all has one key.
      await cp(path.join(keys, 'keys'), path.join(own, 'keys'), { recursive: true });
      const env = {
        ...process.env,
        ...{ STRATA_DATA: own, STRATA_DATABASE_URL: databaseUrl, STRATA_DATABASE_CONNECTIONS: '5', STRATA_ROLE: role },
        ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' },
        ...{ STRATA_LOG_LEVEL: 'info', ...settings },
      };
      const isSeeing = role === 'scanner' || role === 'all' || (role === 'api' && isApiSeeing);
      const child = spawn(process.execPath, [PROGRAM, isSeeing ? String(domains) : '0'], { env, stdio: 'pipe' });
      const exited = once(child, 'exit');
      let log = '';
      child.stderr.on('data', (chunk) => {
        log += chunk;
      });
      const lines = createInterface({ input: child.stdout });
      const [line] = (await Promise.race([once(lines, 'line'), exited])) as unknown[];
      if (typeof line !== 'string') throw new Error(`the ${role} did not start: ${log}`);
      const { port, metricsPort } = JSON.parse(line) as { readonly port?: number; readonly metricsPort: number };
      const node: TestNode = {
        role,
        child,
        base: `http://127.0.0.1:${port ?? metricsPort}`,
        metricsBase: `http://127.0.0.1:${metricsPort}`,
        log: () => log,
        async kill() {
          child.kill('SIGKILL');
          await exited;
        },
        async stop() {
          child.kill('SIGTERM');
          return ((await exited) as [number | null])[0];
        },
      };
      nodes.push(node);
      return node;
    },
    async [Symbol.asyncDispose]() {
      // One that has ended is not signalled.
      await Promise.all(nodes.map((node) => node.kill()));
      await rm(directory, { recursive: true, force: true });
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
