// What the suites share: medians, and child processes that say when they are ready.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value that a share of all lies below, 0–1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en-US')}/s`;
}

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

export interface Child<Ready> extends AsyncDisposable {
  readonly ready: Ready;
  readonly process: ChildProcess;
}

/** Starts a module as a process; its first message is the outcome. Ended by `disconnect`. */
export async function startChild<Ready>(
  file: URL,
  argument: object = {},
  execArgv: readonly string[] = [],
): Promise<Child<Ready>> {
  const child = fork(file, [JSON.stringify(argument)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, ...execArgv],
  });
  const [ready] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file.pathname} ended before it was ready`))),
  ])) as [Ready];
  return {
    ready,
    process: child,
    async [Symbol.asyncDispose]() {
      child.disconnect();
      const exited = child.exitCode === null ? once(child, 'exit') : undefined;
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(kill);
    },
  };
}

/** CPU seconds of a child since its start, which it reports on a message. */
export async function cpuSecondsOf({ process: child }: Pick<Child<unknown>, 'process'>): Promise<number> {
  const answer = once(child, 'message');
  child.send({});
  const [{ user, system }] = (await answer) as [NodeJS.CpuUsage];
  return (user + system) / 1e6;
}

/** In the child: reports that it is ready, and ends when the parent disconnects. */
export function reportReady(ready: object, dispose: () => Promise<void>): void {
  process.once('disconnect', () => void dispose().finally(() => process.exit(0)));
  process.send?.(ready);
}

/** The soft limit, which is the one that counts; Node has raised it to the hard one. */
export function openFileLimit(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
export interface Figure {
  readonly what: string;
  readonly value: string;
  /** The peer or the goal that it is compared with. */
  readonly against: string;
}
