// What the suites share: figures, medians, and child processes that say when they are ready.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A row of the results: what was measured, the value, and the peer or goal that it is compared with. */
export type Figure = readonly [what: string, value: string, against?: string];

/** The value of `STRATA_BENCH_…`, which shortens a run. */
export const setting = (name: string, usual: number): number => Number(process.env[`STRATA_BENCH_${name}`] ?? usual);

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value that a share of all lies below, 0–1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const thousands = (value: number): string => Math.round(value).toLocaleString('en-US');
export const perSecond = (value: number): string => `${thousands(value)}/s`;
export const mib = (bytes: number): string => `${thousands(bytes / 2 ** 20)} MiB`;
export const kib = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KiB`;

/** Operations a second of `work`, run for `ms` milliseconds after a warm-up of a third of it; `work` says how many it did. */
export function rateOf(work: () => number, ms: number): number {
  const run = (until: number) => {
    let count = 0;
    while (performance.now() < until) count += work();
    return count;
  };
  run(performance.now() + ms / 3);
  const startedAt = performance.now();
  const count = run(startedAt + ms);
  return (count * 1_000) / (performance.now() - startedAt);
}

/** Collects this process's garbage, so that it is not collected in the midst of a measurement of another one. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Generous: the machine may be busy. */
const ANSWER_MS = 300_000;

export interface Child<Ready> extends AsyncDisposable {
  readonly ready: Ready;
  readonly process: ChildProcess;
}

/** Starts a module as a process; its first message is the outcome. Ended by `disconnect`. */
export async function startChild<Ready>(file: URL, argument: object = {}): Promise<Child<Ready>> {
  const child = fork(file, [JSON.stringify(argument)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [ready] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file.pathname} ended before it was ready`))),
  ])) as [Ready];
  return {
    ready,
    process: child,
    async [Symbol.asyncDispose]() {
      if (!child.connected) return;
      const exited = once(child, 'exit');
      child.disconnect();
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(kill);
    },
  };
}

/** What a child answers to a message. */
export async function askChild<Answer>(
  { process: child }: Pick<Child<unknown>, 'process'>,
  message: object | string,
): Promise<Answer> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
  child.send(message);
  return ((await answer) as [Answer])[0];
}

/** What a process uses; `live` in `askChild` collects its garbage before. */
export interface Use {
  readonly cpuSeconds: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

export const useOf = (child: Pick<Child<unknown>, 'process'>, what: 'use' | 'live' = 'use'): Promise<Use> =>
  askChild(child, what);

/** In the child: answers `useOf`. */
export function reportUse(): void {
  process.on('message', (message) => {
    if (message !== 'use' && message !== 'live') return;
    if (message === 'live') collectGarbage();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send?.({ cpuSeconds: cpuSeconds(), rss, heapUsed, external } satisfies Use);
  });
}

/** In the child: the argument that it was started with. */
export const childArgument = <Argument>(): Argument => JSON.parse(process.argv[2] ?? '{}') as Argument;

/** Processor time of this process since its start. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** What work gives, how long it takes, and the processor time of this process for it. */
export async function timed<T>(work: () => Promise<T> | T) {
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  const value = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { value, seconds, cpuSeconds: cpuSeconds() - cpuBefore };
}

/** Milliseconds of each run. */
export async function timesOf(runs: number, work: (run: number) => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) times.push((await timed(() => work(run))).seconds * 1_000);
  return times;
}

/** The same work again and again, so many at once, for a time; how often it was done in a second. */
export async function rateAtOnce(concurrency: number, ms: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  const worker = async () => {
    for (; performance.now() - startedAt < ms; done += 1) await work();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (done * 1_000) / (performance.now() - startedAt);
}

/** In the child: reports that it is ready, and ends when the parent disconnects. */
export function reportReady(ready: object, dispose: () => PromiseLike<void> | void): void {
  process.once('disconnect', () => void (async () => dispose())().finally(() => process.exit(0)));
  process.send?.(ready);
}

/** Files that a process has open in addition to its sockets, with a margin. */
const OTHER_FILES = 200;

/** How many files a process may have open, where they suffice for so many sockets. The soft limit counts; Node has raised it to the hard one. */
export function openFilesFor(sockets: number): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  const files = typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
  if (files < sockets + OTHER_FILES)
    throw new Error(`a process may open ${files} files here; ${sockets + OTHER_FILES} are needed: ulimit -n`);
  return files;
}
