// The publishers of the simulated internet, and syncs that a test starts itself.
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Internet } from '@strata/testnet';
import { shared } from '../../../../tests/support/shared.ts';
import { readConfig } from '../config.ts';
import { runSource } from '../enrichment/run-source.ts';
import { configuredSources } from '../enrichment/sources.ts';
import { type Body, type Harness, smallInternet } from './harness.ts';
import { startAging } from './shared.ts';

export type Publishers = Awaited<ReturnType<Internet['advisories']>>;

/** A critical hole in PHP, in every version that there is. */
export const phpHole = (id: string, more: object = {}) => ({
  id,
  title: 'A hole',
  vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  affected: [{ cpe: 'php:php', vendor: 'PHP Group', product: 'PHP', versions: [{ below: '900' }] }],
  ...more,
});

export type About = Record<string, unknown> & Readonly<Record<'id' | 'match', string>>;
export type Affected = About & Readonly<Record<'domain' | 'product_id', string>>;
/** What is open, in a profile. */
type Open = Readonly<Record<'version' | 'product' | 'known_exploited', number>> & {
  readonly by_severity: Readonly<Record<string, number>>;
  readonly top: readonly Affected[];
};

/** Questions to a service, each of which must be answered with 200. */
export function questionsTo(service: Pick<Harness, 'get'>) {
  const get = async (path: string): Promise<Body> => {
    const { status, body, text } = await service.get(`/stack/v1/${path}`);
    assert.equal(status, 200, text.slice(0, 300));
    return body;
  };
  const list = async (name: string, query: string) => (await get(`enrichment/${name}?limit=1000${query}`))[name];
  return {
    get,
    affected: async (query = '') => (await list('affected', query)) as Affected[],
    advisories: async (query = '') => (await list('advisories', query)) as About[],
    openOf: async (path: string) => (await get(path)).advisories as Open,
  };
}

/** Companies whose sites show this. */
export const showing = ({ domains, truth }: Pick<Internet, 'domains' | 'truth'>, product: string) =>
  domains().filter((domain) => truth(domain).versions[product]?.version != null);

/** Settings of a service that may ask these publishers, and does so only when a test starts it. */
export const advisorySettings = ({ settings }: Publishers) => ({ STRATA_ADVISORIES: 'off', ...settings });

/** Syncs every source once, or those named, without letting the service process what they brought. */
export async function syncOnly(service: Harness, publishers: Publishers, names?: readonly string[]): Promise<void> {
  const { app, scheduling } = service.running;
  const { store, rulebook, clock } = app;
  const fetcher = scheduling?.fetcher;
  if (!fetcher) throw new Error('this process is no scheduler');
  const config = readConfig({ ...advisorySettings(publishers), STRATA_ADVISORIES: 'kev,epss,nvd,osv,cve' });
  for (const source of configuredSources(config, { rulebook, nvdGapMs: 0 })) {
    if (names && !names.includes(source.name)) continue;
    const directory = path.join(service.directory, 'advisories');
    const signal = AbortSignal.timeout(60_000);
    const end = await runSource(source, { store, fetcher, directory, now: clock, signal });
    if (end.kind !== 'complete') throw new Error(`${source.name}: ${JSON.stringify(end)}`);
  }
}

/** One sync, processed and published. */
export async function sync(service: Harness, publishers: Publishers, names?: readonly string[]): Promise<void> {
  await syncOnly(service, publishers, names);
  await service.running.updateLoop.run();
}

/** Scanned and synced once. Tests publish advisories with ids of their own. */
export const sharedAdvisories = shared(async () => {
  await using stack = new AsyncDisposableStack();
  const internet = stack.use(await smallInternet());
  const publishers = await internet.advisories();
  const { service, age } = await startAging({ internet, settings: advisorySettings(publishers) });
  stack.use(service);
  /** Companies with PHP that are never scanned before a test does. */
  const unscanned = showing(internet, 'php').slice(-3);
  const scanned = internet.domains().filter((domain) => !unscanned.includes(domain));
  await service.scan(...scanned);
  await sync(service, publishers);
  return Object.assign(stack.move(), {
    ...{ internet, publishers, service, unscanned, scanned, age },
    /** One sync of every source, or of those named, processed, and no older answer kept. */
    async sync(names?: readonly string[]) {
      await sync(service, publishers, names);
      age();
    },
  });
});
