// Gateways and workers as processes of their own on loopback, to be killed, frozen and started again as a test wants.
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { SimulatedEngineOptions } from '@strata/testnet';
import { endProcess } from '../end-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { until, untilAnswer } from '../until.ts';
import type { GatewayReady } from './gateway-process.ts';
import type { ProcessOptions, WorkerReady } from './worker-process.ts';

/** A host is started, a model is loaded: generous, for a machine whose cores are busy. */
const READY_MS = 240_000;

type Settings = Readonly<Record<string, string>>;

export class ClusterProcess<Ready> implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly ready: Ready;

  constructor(child: ChildProcess, ready: Ready) {
    this.child = child;
    this.ready = ready;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** As the power cut would. Resolves when it has exited. */
  async kill(): Promise<void> {
    const exited = this.isRunning ? once(this.child, 'exit') : undefined;
    this.child.kill('SIGKILL');
    await exited;
  }

  /** Its connections stay open, and it sends nothing. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Disconnects it: it stops as a service does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await endProcess(this.child, 15_000, () => {
      this.thaw();
      if (this.child.connected) this.child.disconnect();
    });
  }
}

export type WorkerProcess = ClusterProcess<WorkerReady>;
export type GatewayProcess = ClusterProcess<GatewayReady>;

interface StartOptions {
  readonly settings?: Settings;
  /** Kept over a restart: the same peer and the same accounts. */
  readonly name?: string;
  /** An engine of its own. */
  readonly simulated?: SimulatedEngineOptions | undefined;
}

interface GatewayStart extends StartOptions {
  /** How far its clock is off. */
  readonly clockOffsetMs?: number;
  /** The address that its connections to peers come from. */
  readonly localAddress?: string;
}

interface WorkerStart extends StartOptions {
  /** Join tokens or addresses; those of all gateways by default. */
  readonly join?: readonly string[];
}

export class Cluster implements AsyncDisposable {
  readonly gateways: GatewayProcess[] = [];
  readonly workers: WorkerProcess[] = [];
  readonly directory: string;
  readonly #remove: () => Promise<void>;
  #names = 0;

  private constructor({ path, remove }: Awaited<ReturnType<typeof temporaryDirectory>>) {
    this.directory = path;
    this.#remove = remove;
  }

  static async open(): Promise<Cluster> {
    return new Cluster(await temporaryDirectory());
  }

  /** Stops all processes, and removes what they kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.workers, ...this.gateways].map((each) => each[Symbol.asyncDispose]()));
    await this.#remove();
  }

  async startGateway({ settings = {}, name, ...own }: GatewayStart = {}): Promise<GatewayProcess> {
    const { simulated, clockOffsetMs, localAddress } = own;
    const options: ProcessOptions = { data: this.#data(name), settings, simulated, clockOffsetMs, localAddress };
    const gateway = await start<GatewayReady>('./gateway-process.ts', options);
    this.gateways.push(gateway);
    return gateway;
  }

  async startWorker({ simulated, settings = {}, name, join }: WorkerStart = {}): Promise<WorkerProcess> {
    const targets = join ?? this.gateways.filter((each) => each.isRunning).map(({ ready }) => ready.joinToken);
    const own = { STRATA_JOIN: targets.join(' '), ...settings };
    const options: ProcessOptions = { data: this.#data(name), settings: own, simulated };
    const worker = await start<WorkerReady>('./worker-process.ts', options);
    this.workers.push(worker);
    return worker;
  }

  #data(name: string | undefined): string {
    this.#names += 1;
    return path.join(this.directory, name ?? String(this.#names));
  }
}

async function start<Ready>(file: string, argument: object): Promise<ClusterProcess<Ready>> {
  // A test runner's own flags would make the process run this file as a test.
  const flags = process.execArgv.filter((flag) => !/^--(?:experimental-)?test/.test(flag));
  const options: ForkOptions = { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: flags };
  const child = fork(new URL(file, import.meta.url), [JSON.stringify(argument)], options);
  const signal = AbortSignal.timeout(READY_MS);
  const [ready] = (await Promise.race([
    once(child, 'message', { signal }),
    once(child, 'exit', { signal }).then(() => Promise.reject(new Error(`${file} ended before it was ready`))),
  ])) as [Ready];
  return new ClusterProcess(child, ready);
}

/** The worker that makes the only answer that there is. */
export async function busyWorker({ workers }: Cluster): Promise<WorkerProcess> {
  const busy = async () => {
    for (const worker of workers) if (worker.isRunning && (await runningIn(worker)) > 0) return worker;
    return undefined;
  };
  return (await untilAnswer('a worker is busy', busy)) as WorkerProcess;
}

async function runningIn({ child }: WorkerProcess): Promise<number> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(READY_MS) });
  child.send('busy');
  return ((await answer) as [{ readonly running: number }])[0].running;
}

/** Resolves when so many workers serve the model at this gateway; rejects when that takes too long. */
export async function workersServing(
  { ready: { base } }: GatewayProcess,
  count: number,
  { model, withinMs = 240_000 }: { readonly model?: string; readonly withinMs?: number } = {},
): Promise<void> {
  const isServed = async () => {
    const { models } = (await (await fetch(`${base}/network`)).json()) as NetworkReport;
    const served = models.filter(({ id }) => model === undefined || id === model);
    return served.reduce((sum, { workers }) => sum + workers, 0) === count;
  };
  await until(isServed, { what: `there are ${count} workers`, limitMs: withinMs, intervalMs: 50 });
}

interface NetworkReport {
  readonly models: readonly { readonly id: string; readonly workers: number }[];
}
