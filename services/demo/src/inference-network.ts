// The demo's inference network: a gateway and two workers, each a process of its own, started by the commands that a user would type.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openGatewayKeys, readGatewayConfig } from '@strata/gateway';

/** A worker that is killed is started again after this: long enough to see in `/network` that it is gone. */
const REVIVE_MS = 5_000;
/** Engines are loaded and hosts started, perhaps on a busy machine. */
const READY_MS = 120_000;
const WORKERS = 2;

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

/** Resolves when both workers serve. `directory` is given up by whoever gave it. */
export async function startInferenceNetwork(
  options: { readonly directory: string; readonly modelFile: string; readonly logLevel: string },
  say: (line: string) => void,
): Promise<InferenceNetwork> {
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
  const data = path.join(options.directory, 'inference');
  const gatewaySettings = {
    ...common,
    ...{ STRATA_DATA: data, STRATA_NETWORK: 'on', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' },
  };
  const config = readGatewayConfig(gatewaySettings);
  await using keys = await openGatewayKeys(config);
  const { key } = await keys.keys.create({ tier: 'unlimited', label: 'demo' });
  const gateway = await startCommand(['gateway', '--network'], gatewaySettings, / --join (\S+)/);
  stack.defer(() => stopped(gateway.child));
  const workers = new Workers(
    (number) =>
      startCommand(
        ['worker', '--model', options.modelFile, '--join', gateway.told],
        {
          ...common,
          STRATA_DATA: path.join(options.directory, `worker-${number}`),
          STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0',
          STRATA_MODEL_SLOTS: '2',
          STRATA_MODEL_PROCESSES: '1',
        },
        /^serving gateway (\S+)/,
      ),
    say,
  );
  stack.use(workers);
  await workers.start(WORKERS);
  const base = `http://${config.host}:${config.port}`;
  const model = await servedModel(base, key);
  const owned = stack.move();
  return { base, key, model, workers: () => workers.pids(), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface Started {
  readonly child: ChildProcess;
  /** What the line that was waited for told. */
  readonly told: string;
}

/** Runs `strata inference …` until it prints a line that matches. Rejects with DemoNetworkError when it ends before. */
async function startCommand(words: readonly string[], env: Settings, ready: RegExp): Promise<Started> {
  const child = spawn(process.execPath, [cli, 'inference', ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, told] = ready.exec(line) ?? [];
      if (told === undefined) continue;
      child.stdout.resume();
      return { child, told };
    }
  } finally {
    clearTimeout(late);
  }
  throw new DemoNetworkError(`\`strata inference ${words[0]}\` ended before it was ready; what it said stands above`);
}

class Workers implements AsyncDisposable {
  readonly #run: (number: number) => Promise<Started>;
  readonly #say: (line: string) => void;
  readonly #stopping = new AbortController();
  readonly #children = new Map<number, ChildProcess>();
  readonly #lives: Promise<void>[] = [];

  constructor(run: (number: number) => Promise<Started>, say: (line: string) => void) {
    this.#run = run;
    this.#say = say;
  }

  /** One after the other: a machine of two cores loads two models no faster side by side. */
  async start(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      this.#children.set(number, (await this.#run(number)).child);
      this.#lives.push(this.#keepAlive(number));
    }
  }

  pids(): readonly number[] {
    return [...this.#children.values()].flatMap(({ pid }) => pid ?? []);
  }

  async #keepAlive(number: number): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      const child = this.#children.get(number);
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (signal.aborted) return;
      this.#children.delete(number);
      this.#say(`worker ${number} is gone; it is started again in ${REVIVE_MS / 1_000} s`);
      await sleep(REVIVE_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const { child: next } = await this.#run(number);
        this.#children.set(number, next);
        this.#say(`worker ${number} serves again as process ${next.pid}`);
        if (signal.aborted) await stopped(next);
      } catch (error) {
        this.#say(`worker ${number}: ${(error as Error).message}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
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
