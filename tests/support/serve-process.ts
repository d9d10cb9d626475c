// The service as an operator runs it, a process of its own, over a store that was filled before; what it is asked, and how it ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/store';
import { confirm, day, GOOGLE, scanOf } from '../../packages/store/src/test/scans.ts';

const MAIN = path.join(import.meta.dirname, '../../services/cli/src/main.ts');
const GUARD = path.join(import.meta.dirname, '../../services/cli/src/test/loopback-only.ts');
/** A file that would grow past the limit of a process ends it by this signal; the error of the write says the same. */
const SURVIVE_LIMITS = 'data:text/javascript,process.on("SIGXFSZ",()=>{})';

export interface ServeProcess extends AsyncDisposable {
  readonly base: string;
  readonly pid: number;
  /** Lines of its log so far. */
  readonly log: readonly string[];
  get(path: string, key?: string): Promise<Response>;
  /** Resolves when it has ended. */
  kill(): Promise<void>;
  /** Files may not grow beyond this, or may again; what a full disk looks like from inside. */
  limitFiles(bytes: number | 'unlimited'): void;
}

export const settingsOf = (directory: string) => ({
  STRATA_DATA: directory,
  ...{ STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_RESOLVERS: '127.0.0.1:9' },
  ...{ STRATA_SCAN: 'off', STRATA_ON_DEMAND: 'off', STRATA_ADVISORIES: 'off', STRATA_FEEDS: 'off' },
});

/** Starts it; rejects with what it said when it ends instead. `uid`: only root may ask for it. */
export async function startServe(
  directory: string,
  options: { readonly uid?: number; readonly settings?: Readonly<Record<string, string>> } = {},
): Promise<ServeProcess> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:STRATA|NODE)_/.test(name));
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', SURVIVE_LIMITS, '--import', GUARD, MAIN, 'stack', 'serve'],
    {
      env: { ...Object.fromEntries(inherited), ...settingsOf(directory), ...options.settings },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid }),
    },
  );
  const ended = once(child, 'exit');
  const log: string[] = [];
  let errors = '';
  const base = await new Promise<string>((resolve, reject) => {
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      log.push(...lines);
      for (const line of lines) {
        const url = /"url":"(http:[^"]+)\/"/.exec(line)?.[1];
        if (url) resolve(url);
      }
    });
    child.once('exit', (code) =>
      reject(
        Object.assign(
          new Error(
            errors
              .trim()
              .split('\n')
              .filter((line) => !line.startsWith('{'))
              .join('\n'),
          ),
          { exitCode: code },
        ),
      ),
    );
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    ...{ base, log, kill },
    pid: child.pid ?? 0,
    get: (where, key) => fetch(base + where, key === undefined ? {} : { headers: { 'x-stack-key': key } }),
    limitFiles: (bytes) => void execFileSync('prlimit', [`--pid=${child.pid}`, `--fsize=${bytes}:unlimited`]),
    [Symbol.asyncDispose]: kill,
  };
}

/** A store with scanned domains `d0.com` … in the directory's place, and a key of each kind. */
export async function fillStore(
  file: string,
  domains: number,
): Promise<{ readonly free: string; readonly counted: string; readonly countedId: string }> {
  await using store = await openStore(`sqlite:${file}`);
  for (let i = 0; i < domains; i += 1) await store.recordScan(scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
  const { key: counted, stored } = await store.keys.create({ tier: 'standard' });
  return { free: (await store.keys.create({ tier: 'unlimited' })).key, counted, countedId: stored.id };
}

/** Asks until the answer is as wished, for as long as a loaded machine may take. */
export async function until(ask: () => Promise<Response>, isWished: (answer: Response) => boolean): Promise<Response> {
  for (const deadline = Date.now() + 60_000; ; await delay(50)) {
    const answer = await ask();
    if (isWished(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`still ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
}
