// The demo's inference network: a gateway and two workers, each a process of its own, started with the commands of the CLI.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openGatewayStore, readGatewayConfig } from '@strata/gateway';
import { StartError, urlAt } from '@strata/http';

/**
 * Delay before a killed worker is restarted: long enough that `/network` shows its absence, and short enough that an answer without any
 * worker can continue.
 */
const RESTART_MS = 2_000;
/** Loading an engine and starting a host can be slow on a busy machine. */
const READY_MS = 120_000;
const WORKERS = 2;
/** Free keys of each service per address and day, enough for users and tests of the demo. */
export const FREE_KEYS = '100';

/** Each demo has a ledger name of its own: with the same name, a verifier that knows the previous demo would report a fork. */
export const newLedgerName = (service: string): string => `localhost/demo-${randomBytes(4).toString('hex')}/${service}`;

export interface InferenceNetwork extends AsyncDisposable {
  readonly base: string;
  readonly key: string;
  readonly model: string;
  /** Process ids of the running workers. */
  workers(): readonly number[];
}

const cli = path.join(import.meta.dirname, '../../cli/src/main.ts');

type Settings = Readonly<Record<string, string | undefined>>;

export interface InferenceNetworkOptions {
  /** Data directory of the gateway; the caller deletes it. */
  readonly directory: string;
  readonly modelFile: string;
  readonly logLevel: string;
  /** Port of the gateway, from `gatewayAddress`. */
  readonly port: number;
  /** URL of the stack service for the link on the chat page; undefined where browsers cannot open it. */
  readonly explorerUrl: string | undefined;
  /** API key of the stack service, for answers from its data. */
  readonly explorerKey: string;
  /** Aborts the start, and stops restarting workers. */
  readonly signal: AbortSignal;
}

/** Resolves when both workers serve. Rejects with StartError. */
export async function startInferenceNetwork(
  options: InferenceNetworkOptions,
  print: (line: string) => void,
): Promise<InferenceNetwork> {
  const { signal } = options;
  await using stack = new AsyncDisposableStack();
  const common: Settings = {
    ...process.env,
    ...{
      STRATA_LOG_LEVEL: options.logLevel,
      STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off',
      STRATA_JOIN: '',
      STRATA_MODEL: '',
      STRATA_UPSTREAM: '',
    },
  };
  const { port, explorerUrl, explorerKey } = options;
  const gatewaySettings = {
    ...common,
    ...{ STRATA_DATA: options.directory, STRATA_NETWORK: 'on' },
    STRATA_INFERENCE_PORT: String(port),
    STRATA_INFERENCE_FREE_KEYS_PER_DAY: process.env.STRATA_INFERENCE_FREE_KEYS_PER_DAY || FREE_KEYS,
    STRATA_INFERENCE_LEDGER_ORIGIN: process.env.STRATA_INFERENCE_LEDGER_ORIGIN || newLedgerName('inference'),
    STRATA_EXPLORER_URL: process.env.STRATA_EXPLORER_URL || (explorerUrl ?? ''),
    STRATA_EXPLORER_KEY: process.env.STRATA_EXPLORER_KEY || explorerKey,
  };
  const config = readGatewayConfig(gatewaySettings);
  await using keys = await openGatewayStore(config);
  const { key } = await keys.keys.create({ tier: 'unlimited', label: 'demo' });
  const gateway = await startCommand(['gateway', '--network'], gatewaySettings, { ready: / --join (\S+)/, signal });
  stack.defer(() => stopped(gateway.child));
  const workers = new Workers(
    (number, stop) =>
      startCommand(
        ['worker', '--model', options.modelFile, '--join', gateway.match],
        {
          ...common,
          STRATA_DATA: path.join(options.directory, `worker-${number}`),
          STRATA_MODEL_OPTIONS: 'slots=2,processes=1',
        },
        { ready: /^serving gateway (\S+)/, signal: stop },
      ),
    { print, signal },
  );
  stack.use(workers);
  await workers.start(WORKERS);
  const base = urlAt({ host: config.host, port });
  const model = await servedModel(base, key);
  const owned = stack.move();
  return { base, key, model, workers: () => workers.pids(), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The listen address of the gateway. Throws StartError for port 0: the explorer, which starts before the gateway, links to it. */
export function gatewayAddress(): { readonly host: string; readonly port: number } {
  const { host, port } = readGatewayConfig(process.env);
  if (port === 0) throw new StartError('the demo needs a port for its gateway: set STRATA_INFERENCE_PORT to one');
  return { host, port };
}

interface Started {
  readonly child: ChildProcess;
  /** The first group of the matching line. */
  readonly match: string;
}

/** Runs `strata inference …` until it prints a matching line. Rejects with StartError when it exits before, or the signal aborts. */
async function startCommand(
  args: readonly string[],
  env: Settings,
  { ready, signal }: { readonly ready: RegExp; readonly signal: AbortSignal },
): Promise<Started> {
  const child = spawn(process.execPath, [cli, 'inference', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => void child.kill('SIGKILL');
  const timer = setTimeout(end, READY_MS);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, match] = ready.exec(line) ?? [];
      if (match === undefined) continue;
      child.stdout.resume();
      return { child, match };
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
  throw new StartError(`\`strata inference ${args[0]}\` exited before it was ready; see its output above`);
}

class Workers implements AsyncDisposable {
  readonly #run: (number: number, signal: AbortSignal) => Promise<Started>;
  readonly #print: (line: string) => void;
  readonly #closing = new AbortController();
  readonly #stopping: AbortSignal;
  readonly #children = new Map<number, ChildProcess>();
  readonly #supervisors: Promise<void>[] = [];

  constructor(
    run: (number: number, signal: AbortSignal) => Promise<Started>,
    { print, signal }: { readonly print: (line: string) => void; readonly signal: AbortSignal },
  ) {
    this.#run = run;
    this.#print = print;
    this.#stopping = AbortSignal.any([signal, this.#closing.signal]);
  }

  /** Sequentially: on two cores, loading two models concurrently is not faster. */
  async start(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      this.#children.set(number, (await this.#run(number, this.#stopping)).child);
      this.#supervisors.push(this.#keepAlive(number));
    }
  }

  pids(): readonly number[] {
    return [...this.#children.values()].flatMap(({ pid }) => pid ?? []);
  }

  async #keepAlive(number: number): Promise<void> {
    const signal = this.#stopping;
    for (;;) {
      const child = this.#children.get(number);
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (signal.aborted) return;
      this.#children.delete(number);
      this.#print(`worker ${number} exited; restarting in ${RESTART_MS / 1_000} s`);
      await sleep(RESTART_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const { child: next } = await this.#run(number, signal);
        this.#children.set(number, next);
        if (signal.aborted) return await stopped(next);
        this.#print(`worker ${number} restarted as process ${next.pid}`);
      } catch (error) {
        if (signal.aborted) return;
        this.#print(`worker ${number}: ${(error as Error).message}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(Array.from(this.#children.values(), stopped));
    await Promise.all(this.#supervisors);
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exited;
  clearTimeout(timer);
}

/** The first language model that the gateway serves; waits for it. */
async function servedModel(base: string, key: string): Promise<string> {
  for (const until = Date.now() + READY_MS; Date.now() < until; await sleep(100)) {
    const response = await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as {
      readonly data: readonly { readonly id: string; readonly sha256: string | null }[];
    };
    const model = data.find(({ sha256 }) => sha256 !== null);
    if (model) return model.id;
  }
  throw new StartError('the workers are connected, but the gateway serves no model');
}
