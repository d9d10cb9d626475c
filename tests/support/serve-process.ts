// The service as an operator runs it, a process of its own, over a store that was filled before; what it is asked, and how it ends.
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openStore } from '@strata/stack/store';
import { strataProcess } from '../../services/cli/src/test/run-strata.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from '../../services/stack/src/store/test/scans.ts';

/** A file that would grow past the limit of a process ends it by this signal; the error of the write says the same. */
const SURVIVE_LIMITS = 'data:text/javascript,process.on("SIGXFSZ",()=>{})';

export type ServeProcess = Awaited<ReturnType<typeof startServe>>;

export const settingsOf = (directory: string) => ({
  STRATA_DATA: directory,
  ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_RESOLVERS: '127.0.0.1:9' },
  ...{ STRATA_SCAN: 'off', STRATA_SCAN_OPTIONS: 'on-demand=off', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' },
});

/** Starts it, below the command `wrapper`; rejects with what it printed when it ends instead. */
export async function startServe(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
  wrapper: readonly string[] = [],
) {
  const { command, args, env } = strataProcess(['stack', 'serve'], { ...settingsOf(directory), ...settings });
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe'];
  const [program = command, ...all] = [...wrapper, command, '--import', SURVIVE_LIMITS, ...args];
  const child: ChildProcess = spawn(program, all, { env, stdio });
  const ended = once(child, 'exit');
  const log: string[] = [];
  const base = await new Promise<string>((resolve, reject) => {
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      log.push(...lines);
      for (const line of lines) {
        const url = /"url":"(http:[^"]+)\/"/.exec(line)?.[1];
        if (url) resolve(url);
      }
    });
    child.once('close', () => reject(new Error(log.filter((line) => !line.startsWith('{')).join('\n'))));
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    ...{ base, log, kill },
    pid: child.pid ?? 0,
    get: (at: string, key?: string) => fetch(base + at, key === undefined ? {} : { headers: { 'x-stack-key': key } }),
    /** Limits the size of files, or removes the limit: a process then fails as on a full disk. */
    limitFiles: (bytes: number | 'unlimited') =>
      void execFileSync('prlimit', [`--pid=${child.pid}`, `--fsize=${bytes}:unlimited`]),
    [Symbol.asyncDispose]: kill,
  };
}

/** A store with scanned domains `d0.com` … in the directory, and a key of each kind. */
export async function fillStore(file: string, domains: number) {
  await using store = await openStore(`sqlite:${file}`);
  // Scanned long ago: those that a request has added would be forgotten.
  const names = Array.from({ length: domains }, (_, i) => `d${i}.com`);
  await store.domains.add(names, { source: 'list' });
  for (let i = 0; i < domains; i += 1) await recordScan(store, scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
  const { key: counted, stored } = await store.keys.create({ tier: 'standard' });
  return { free: (await store.keys.create({ tier: 'unlimited' })).key, counted, countedId: stored.id };
}
