// The real service on a small simulated internet, over real sockets, and what a test asks of it.
import { createLogger } from '@strata/http';
import { createInternet, type Internet } from '@strata/testnet';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { readConfig } from '../config.ts';
import type { World } from '../context.ts';
import { startStack } from '../roles/start-api.ts';

type Settings = Readonly<Record<string, string>>;

/** What is read of any answer in JSON: fields of profiles, problems and receipts alike. */
export interface Body extends Record<string, unknown> {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly domain?: string;
  readonly provenance: { readonly [field: string]: string };
}

export type Answer = Awaited<ReturnType<typeof answerOf>>;
export type Harness = Awaited<ReturnType<typeof startHarness>>;

interface HarnessOptions {
  /** Shared by the tests of a file, since it costs the most. */
  readonly internet: Internet;
  readonly settings?: Settings;
  readonly world?: World;
  /** Lines of the log; nothing is logged without it. */
  readonly log?: string[];
}

/** Forty companies without broken ones: what is tested here is the service. */
export const smallInternet = () => createInternet({ domains: 40, hasFaults: false });

/** Settings of a service on the simulated internet; ports are the system's choice. */
export function settingsFor(internet: Pick<Internet, 'resolver'>, directory: string): Settings {
  return {
    STRATA_DATA: directory,
    STRATA_STACK_PORT: '0',
    STRATA_METRICS_PORT: '0',
    STRATA_SCAN: 'off',
    STRATA_ADVISORIES: 'off',
    STRATA_LOG_LEVEL: 'silent',
    STRATA_RESOLVERS: `${internet.resolver.address}:${internet.resolver.port}`,
  };
}

export async function startHarness({ internet, settings, world, log }: HarnessOptions) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const logger = log
    ? createLogger({ level: 'trace' }, { write: (line: string) => void log.push(line) })
    : createLogger({ level: 'silent' });
  const near: World = {
    dial: (to) => internet.dial(to),
    trustedCa: [internet.caPem],
    // Long enough on a busy machine: what must time out sets its own.
    dnsTryTimeoutMs: 5_000,
    requestTimeoutMs: 10_000,
    ...world,
  };
  const start = (more: Settings = {}) =>
    startStack(readConfig({ ...settingsFor(internet, directory), ...settings, ...more }), logger, near);
  let running = await start();
  stack.defer(() => running[Symbol.asyncDispose]());

  const store = () => running.app.store;
  const newKey = async (tier: 'free' | 'standard' | 'unlimited' = 'unlimited') =>
    (await store().keys.create({ tier })).key;
  const ownKey = await newKey();
  const base = () => `http://127.0.0.1:${running.port}`;
  /** GET without a key, or any other method. */
  const ask = async (target: string, init: RequestInit = {}) => answerOf(await fetch(base() + target, init));
  const owned = stack.move();
  return {
    directory,
    newKey,
    ask,
    get running() {
      return running;
    },
    get base() {
      return base();
    },
    /** GET with the harness's own unlimited key, unless `headers` say otherwise. */
    get: (target: string, { headers }: { readonly headers?: Record<string, string> } = {}) =>
      ask(target, { headers: { 'x-stack-key': ownKey, ...headers } }),
    /** Scans companies now, as the schedule would. */
    async scan(...domains: string[]) {
      await store().domains.add(domains, { source: 'test' });
      await running.app.scanner.runAll(domains, { onDone: () => {}, signal: new AbortController().signal });
    },
    /** Stops the service and starts it again on the same data. */
    async restart(more?: Settings) {
      await running[Symbol.asyncDispose]();
      running = await start(more);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function answerOf(response: Response) {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const body = (isJson && text !== '' ? JSON.parse(text) : {}) as Body;
  return { status: response.status, headers: response.headers, text, body };
}

/** The company at an index of the list; each test uses its own, so that no test reads another's scans. */
export function company(internet: Internet, index: number): string {
  const name = internet.domains()[index];
  if (name === undefined) throw new RangeError(`there is no company ${index}`);
  return name;
}

/** Scans twice, the second time at a later moment, so that what changed is confirmed where no hours are waited for. */
export async function scanTwice(service: Harness, ...domains: string[]): Promise<void> {
  for (let times = 0; times < 2; times += 1) {
    await service.scan(...domains);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Gives the first companies with one DNS provider another; the change is observed once the resolver's cache has expired. */
export function moveDnsOf(internet: Internet, count: number) {
  const moved: { readonly domain: string; readonly from: string; readonly to: string }[] = [];
  for (const domain of internet.domains()) {
    if (moved.length === count) break;
    const { state, services } = internet.truth(domain);
    const [dns, other] = services.filter(({ category, isVisible }) => category === 'dns' && isVisible);
    if (state !== 'active' || !dns || other) continue;
    const to = dns.provider === 'ns1' ? 'dnsimple' : 'ns1';
    internet.migrate(domain, { category: 'dns', to });
    moved.push({ domain, from: dns.provider, to });
  }
  return moved;
}

/** The same of one company. */
export function moveDns(internet: Internet) {
  const [moved] = moveDnsOf(internet, 1);
  if (!moved) throw new RangeError('no company has one DNS provider');
  return moved;
}
