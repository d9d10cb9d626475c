// The simulated publishers, a real store and the real fetcher, for tests of syncing.
import type { RequestListener } from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { createFetcher, type Fetcher } from '@strata/scan';
import { type AdvisorySources, type AdvisorySourcesOptions, createAdvisorySources } from '@strata/testnet';
import { fakeService, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { openStore } from '../../store/index.ts';
import { type RunDeps, runSource } from '../run-source.ts';
import type { AdvisorySource, SourceName } from '../source.ts';
import { cveListSource } from '../sources/cve-list.ts';
import { epssSource } from '../sources/epss.ts';
import { kevSource } from '../sources/kev.ts';
import { nvdSource } from '../sources/nvd.ts';
import { osvSource } from '../sources/osv.ts';

export const START = Date.UTC(2026, 5, 1, 12);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export type NetName = Exclude<SourceName, 'folder'>;
export const NET_NAMES: readonly NetName[] = ['kev', 'epss', 'nvd', 'osv', 'cve'];

export type Ground = Awaited<ReturnType<typeof openGround>>;
export type World = Awaited<ReturnType<typeof openWorld>>;

const TABLES = ['advisories', 'advisory_records', 'advisory_products', 'known_exploited', 'exploit_scores'];

export async function openGround(clock: { readonly at: number }, fetcher: Fetcher) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const file = path.join(directory, 'strata.db');
  const now = () => new Date(clock.at);
  const store = stack.use(await openStore(`sqlite:${file}`, { now }));
  const deps: RunDeps = {
    store,
    fetcher,
    now,
    directory: path.join(directory, 'advisories'),
    // Short pauses; requests have their time on a busy machine.
    timeouts: { firstPauseMs: 2, requestMs: 10_000, downloadMs: 10_000 },
    signal: new AbortController().signal,
  };
  return Object.assign(stack.move(), {
    ...{ store, directory, deps },
    run: (source: AdvisorySource, options?: Partial<RunDeps>) => runSource(source, { ...deps, ...options }),
    async stored(name: SourceName) {
      const found = (await store.sources.list(new Date())).find((source) => source.name === name);
      if (!found) throw new Error(`${name} was never begun`);
      return found;
    },
    /** What is kept of advisories, as text to compare. */
    dump: () => dumpOf(file),
  });
}

function dumpOf(file: string): Readonly<Record<string, readonly string[]>> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rowsOf = (table: string) => database.prepare(`SELECT * FROM ${table}`).all();
    const textsOf = (table: string) => rowsOf(table).map((row) => JSON.stringify(row));
    return Object.fromEntries(TABLES.map((table) => [table, textsOf(table).sort()]));
  } finally {
    database.close();
  }
}

/** The stored advisories, by id. */
export const idsOf = (ground: Ground): string[] =>
  (ground.dump().advisories ?? []).map((row) => JSON.parse(row).id as string).sort();

export async function openWorld(options: Omit<Partial<AdvisorySourcesOptions>, 'now'> = {}) {
  await using stack = new AsyncDisposableStack();
  const clock = { at: START };
  const now = () => new Date(clock.at);
  const publishers = stack.use(await createAdvisorySources({ seed: 'sync', ...options, now }));
  const { nvdUrl, cveListUrl, kevUrl, epssUrl, osvUrl } = publishers;
  const trustedOrigins = [nvdUrl, cveListUrl, kevUrl, epssUrl, osvUrl].map((url) => new URL(url).origin);
  const fetcher = stack.use(createFetcher({ trustedOrigins, userAgent: 'StrataBot/test' }));
  return Object.assign(stack.move(), {
    ...{ clock, publishers, fetcher },
    source: (name: NetName) => sourceOf(name, publishers),
    ground: () => openGround(clock, fetcher),
    pass(days: number) {
      for (let i = 0; i < days; i += 1) {
        clock.at += DAY;
        publishers.advance(1);
      }
    },
  });
}

/** A test with publishers and a store of its own. */
export function inWorld(name: string, check: (world: World, ground: Ground) => Promise<void>): void {
  it(name, async () => {
    await using world = await openWorld();
    await using ground = await world.ground();
    await check(world, ground);
  });
}

type Addresses = Pick<AdvisorySources, 'nvdUrl' | 'cveListUrl' | 'rawUrl' | 'kevUrl' | 'epssUrl' | 'osvUrl'>;

function sourceOf(name: NetName, urls: Addresses): AdvisorySource {
  const everyMs = 2 * HOUR;
  const sources = {
    kev: kevSource({ url: urls.kevUrl, everyMs }),
    epss: epssSource({ url: urls.epssUrl, everyMs }),
    nvd: nvdSource({ url: urls.nvdUrl, apiKey: undefined, everyMs, gapMs: 0 }),
    osv: osvSource({ baseUrl: urls.osvUrl, ecosystems: ['Packagist', 'npm'], everyMs }),
    cve: cveListSource({ apiUrl: urls.cveListUrl, rawUrl: urls.rawUrl, everyMs }),
  };
  return sources[name];
}

/** What the publishers call a source. */
export const publisherOf = (name: NetName) => (name === 'cve' ? 'cve-list' : name);

export type SourceAt = (origin: string) => AdvisorySource;

/** A publisher of a test's own making, which answers as the listener does, with one source of it, and a store to sync into. */
export async function openPublisher(answers: RequestListener, sourceAt: SourceAt, trusted: readonly string[] = []) {
  await using stack = new AsyncDisposableStack();
  const { base: origin } = stack.use(await fakeService(answers));
  const fetcher = stack.use(createFetcher({ trustedOrigins: [origin, ...trusted], userAgent: 'StrataBot/test' }));
  const clock = { at: START };
  const ground = stack.use(await openGround(clock, fetcher));
  const source = sourceAt(origin);
  return Object.assign(stack.move(), { ...{ clock, ground, source }, sync: () => ground.run(source) });
}
