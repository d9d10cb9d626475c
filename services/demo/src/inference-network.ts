// The demo's inference network: a gateway and two workers, each a process of its own, started by the commands that a user would type.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openGatewayStore, readGatewayConfig } from '@strata/gateway';
import { urlAt } from '@strata/http';

/** A worker that is killed is started again after this: long enough to see in `/network` that it is gone, and soon enough that an answer which lost both workers goes on. */
const REVIVE_MS = 2_000;
/** Engines are loaded and hosts started, perhaps on a busy machine. */
const READY_MS = 120_000;
const WORKERS = 2;
/** Free keys of either service for each address: all who try the demo, and its tests, have one. */
export const FREE_KEYS = '100';

/** Each demo begins a ledger of its own name: a verifier that remembers the last demo's would take the same name for a fork. */
export const newLedgerName = (service: string): string => `localhost/demo-${randomBytes(4).toString('hex')}/${service}`;

export interface InferenceNetwork extends AsyncDisposable {
  readonly base: string;
  readonly key: string;
  /** Id of the model that the workers lend. */
  readonly model: string;
  /** Process ids of the workers that run. */
  workers(): readonly number[];
}

export class DemoNetworkError extends Error {
  override readonly name = 'DemoNetworkError';
}

const cli = path.join(import.meta.dirname, '../../cli/src/main.ts');

type Settings = Readonly<Record<string, string | undefined>>;

export interface InferenceNetworkOptions {
  /** The gateway's data is in it; whoever gave it gives it up. */
  readonly directory: string;
  readonly modelFile: string;
  readonly logLevel: string;
  /** Of the gateway, as `gatewayPlace` chooses it. */
  readonly port: number;
  /** Where the other service is, for the chat's link to it; undefined where it has no address that readers can open. */
  readonly explorerUrl: string | undefined;
  /** Ends the start, and the starting again of workers. */
  readonly signal: AbortSignal;
}

/** Resolves when both workers serve. Rejects with DemoNetworkError. */
export async function startInferenceNetwork(
  options: InferenceNetworkOptions,
  say: (line: string) => void,
): Promise<InferenceNetwork> {
  const { signal } = options;
  await using stack = new AsyncDisposableStack();
  const common: Settings = {
    ...process.env,
    ...{
      STRATA_LOG_LEVEL: options.logLevel,
      STRATA_MDNS: 'off',
      STRATA_JOIN: '',
      STRATA_MODEL: '',
      STRATA_UPSTREAM: '',
    },
  };
  const { port, explorerUrl } = options;
  const gatewaySettings = {
    ...common,
    ...{ STRATA_DATA: options.directory, STRATA_NETWORK: 'on', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' },
    STRATA_INFERENCE_PORT: String(port),
    STRATA_INFERENCE_FREE_KEYS_PER_DAY: process.env.STRATA_INFERENCE_FREE_KEYS_PER_DAY || FREE_KEYS,
    STRATA_INFERENCE_LEDGER_ORIGIN: process.env.STRATA_INFERENCE_LEDGER_ORIGIN || newLedgerName('inference'),
    STRATA_EXPLORER_URL: process.env.STRATA_EXPLORER_URL || (explorerUrl ?? ''),
  };
  const config = readGatewayConfig(gatewaySettings);
  await using keys = await openGatewayStore(config);
  const { key } = await keys.keys.create({ tier: 'unlimited', label: 'demo' });
  const gateway = await startCommand(['gateway', '--network'], gatewaySettings, { ready: / --join (\S+)/, signal });
  stack.defer(() => stopped(gateway.child));
  const workers = new Workers(
    (number, stop) =>
      startCommand(
        ['worker', '--model', options.modelFile, '--join', gateway.told],
        {
          ...common,
          STRATA_DATA: path.join(options.directory, `worker-${number}`),
          STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0',
          STRATA_MODEL_SLOTS: '2',
          STRATA_MODEL_PROCESSES: '1',
        },
        { ready: /^serving gateway (\S+)/, signal: stop },
      ),
    { say, signal },
  );
  stack.use(workers);
  await workers.start(WORKERS);
  const base = urlAt({ host: config.host, port });
  const model = await servedModel(base, key);
  const owned = stack.move();
  return { base, key, model, workers: () => workers.pids(), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Where the gateway will listen. It is a process of its own and does not tell its port: for 0 one is chosen that is free just now. */
export async function gatewayPlace(): Promise<{ readonly host: string; readonly port: number }> {
  const { host, port } = readGatewayConfig(process.env);
  return { host, port: port === 0 ? await freePort(host) : port };
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

interface Started {
  readonly child: ChildProcess;
  /** What the line that was waited for told. */
  readonly told: string;
}

/** Runs `strata inference …` until it prints a line that matches. Rejects with DemoNetworkError when it ends before, or is ended by the signal. */
async function startCommand(
  words: readonly string[],
  env: Settings,
  { ready, signal }: { readonly ready: RegExp; readonly signal: AbortSignal },
): Promise<Started> {
  const child = spawn(process.execPath, [cli, 'inference', ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => void child.kill('SIGKILL');
  const late = setTimeout(end, READY_MS);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, told] = ready.exec(line) ?? [];
      if (told === undefined) continue;
      child.stdout.resume();
      return { child, told };
    }
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', end);
  }
  throw new DemoNetworkError(`\`strata inference ${words[0]}\` ended before it was ready; what it said stands above`);
}

class Workers implements AsyncDisposable {
  readonly #run: (number: number, signal: AbortSignal) => Promise<Started>;
  readonly #say: (line: string) => void;
  readonly #closing = new AbortController();
  readonly #stopping: AbortSignal;
  readonly #children = new Map<number, ChildProcess>();
  readonly #lives: Promise<void>[] = [];

  constructor(
    run: (number: number, signal: AbortSignal) => Promise<Started>,
    { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
  ) {
    this.#run = run;
    this.#say = say;
    this.#stopping = AbortSignal.any([signal, this.#closing.signal]);
  }

  /** One after the other: a machine of two cores loads two models no faster side by side. */
  async start(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      this.#children.set(number, (await this.#run(number, this.#stopping)).child);
      this.#lives.push(this.#keepAlive(number));
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
      this.#say(`worker ${number} is gone; it is started again in ${REVIVE_MS / 1_000} s`);
      await sleep(REVIVE_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const { child: next } = await this.#run(number, signal);
        this.#children.set(number, next);
        if (signal.aborted) return await stopped(next);
        this.#say(`worker ${number} serves again as process ${next.pid}`);
      } catch (error) {
        if (signal.aborted) return;
        this.#say(`worker ${number}: ${(error as Error).message}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(Array.from(this.#children.values(), stopped));
    await Promise.all(this.#lives);
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await gone;
  clearTimeout(late);
}

/** The first model that the gateway serves; waits for it. */
async function servedModel(base: string, key: string): Promise<string> {
  for (const until = Date.now() + READY_MS; Date.now() < until; await sleep(100)) {
    const response = await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { readonly data: readonly { readonly id: string }[] };
    if (data[0]) return data[0].id;
  }
  throw new DemoNetworkError('the workers came, and the gateway serves no model');
}
