// The real service on a small simulated internet, for tests across packages.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger } from '@strata/http';
import { type Config, type RunningStack, readConfig, startStack, type World } from '@strata/stack';
import { createInternet, type Internet, type InternetOptions } from '@strata/testnet';

export interface Fetched {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
  readonly body: any;
}

export interface TestStack extends AsyncDisposable {
  readonly internet: Internet;
  readonly directory: string;
  running: RunningStack;
  key: string;
  url(path: string): string;
  get(path: string, headers?: Record<string, string>): Promise<Fetched>;
  /** Stops the service and starts it again on the same data. */
  restart(change?: Partial<Config>): Promise<void>;
}

export interface TestStackOptions extends Pick<InternetOptions, 'domains' | 'feeds' | 'now'> {
  readonly config?: Partial<Config>;
  /** Changes the world that the service sees. */
  readonly world?: (near: World, config: Config) => World;
}

export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const { config: settings, world = (near) => near, domains = 40, ...grown } = options;
  const internet = await createInternet({ ...grown, domains, hasFaults: false });
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-test-'));
  const near = { dial: internet.dial, trustedCa: [internet.caPem], dnsTryTimeoutMs: 1_000, requestTimeoutMs: 4_000 };
  const start = (change: Partial<Config>) => {
    const config: Config = {
      ...readConfig({
        STRATA_DATA: directory,
        STRATA_STACK_PORT: '0',
        STRATA_METRICS_PORT: '0',
        STRATA_SCAN: 'off',
        STRATA_ADVISORIES: 'off',
      }),
      resolvers: [internet.resolver],
      ...settings,
      ...change,
    };
    return startStack(config, createLogger({ level: 'silent' }), world(near, config));
  };
  const running = await start({});
  const { key } = await running.service.app.store.keys.create({ tier: 'unlimited' });
  const stack: TestStack = {
    internet,
    directory,
    running,
    key,
    url: (path) => `http://127.0.0.1:${stack.running.port}${path}`,
    async get(path, headers = {}) {
      const response = await fetch(stack.url(path), { headers: { 'x-stack-key': stack.key, ...headers } });
      const text = await response.text();
      const isJson = (response.headers.get('content-type') ?? '').includes('json');
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
    },
    async restart(change = {}) {
      await stack.running[Symbol.asyncDispose]();
      stack.running = await start(change);
    },
    async [Symbol.asyncDispose]() {
      await stack.running[Symbol.asyncDispose]();
      await internet[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return stack;
}
