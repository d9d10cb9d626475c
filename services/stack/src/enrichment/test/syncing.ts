// The simulated publishers, a real store and the real fetcher, for tests of syncing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createFetcher, type Fetcher } from '@strata/scan';
import { openStore, type Store, type StoredSource } from '@strata/store';
import { type AdvisorySources, type AdvisorySourcesOptions, createAdvisorySources } from '@strata/testnet';
import { cveListSource } from '../cve-list.ts';
import { epssSource } from '../epss.ts';
import { kevSource } from '../kev.ts';
import { nvdSource } from '../nvd.ts';
import { osvSource } from '../osv.ts';
import { type RunParts, runSource, type SyncEnd } from '../run-source.ts';
import type { AdvisorySource, Patience, SourceName } from '../source.ts';

export const START = Date.UTC(2026, 5, 1, 12);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** Short pauses; requests have their time on a busy machine. */
const IMPATIENT: Patience = { firstPauseMs: 2, requestMs: 10_000, downloadMs: 10_000 };

export type NetName = Exclude<SourceName, 'folder'>;
export const NET_NAMES: readonly NetName[] = ['kev', 'epss', 'nvd', 'osv', 'cve'];

export interface Clock {
  at: number;
}

export interface Ground extends AsyncDisposable {
  readonly store: Store;
  readonly directory: string;
  readonly parts: RunParts;
  run(source: AdvisorySource, options?: Partial<RunParts>): Promise<SyncEnd>;
  stored(name: SourceName): Promise<StoredSource>;
  /** What is kept of advisories, as text to compare. */
  dump(): Dump;
}

export type Dump = Readonly<Record<string, readonly string[]>>;

const TABLES = ['advisories', 'advisory_records', 'advisory_products', 'known_exploited', 'exploit_scores'];

export async function openGround(clock: Clock, fetcher: Fetcher): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-sync-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(directory, 'strata.db');
  const now = () => new Date(clock.at);
  const store = stack.use(await openStore(`sqlite:${file}`, { now }));
  const parts: RunParts = {
    store,
    fetcher,
    now,
    directory: path.join(directory, 'advisories'),
    patience: IMPATIENT,
    signal: new AbortController().signal,
  };
  const owned = stack.move();
  return {
    store,
    directory,
    parts,
    run: (source, options) => runSource(source, { ...parts, ...options }),
    async stored(name) {
      const found = (await store.sources.list(new Date())).find((source) => source.name === name);
      if (!found) throw new Error(`${name} was never begun`);
      return found;
    },
    dump: () => dumpOf(file),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function dumpOf(file: string): Dump {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rowsOf = (table: string) =>
      database
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort();
    return Object.fromEntries(TABLES.map((table) => [table, rowsOf(table)]));
  } finally {
    database.close();
  }
}

/** The stored advisories, by id. */
export const idsOf = (ground: Ground): string[] =>
  (ground.dump().advisories ?? []).map((row) => JSON.parse(row).id as string).sort();

/** Whether two stores hold the same; a difference would be too long to print. */
export const isSame = (a: Ground, b: Ground) => JSON.stringify(a.dump()) === JSON.stringify(b.dump());

export interface World extends AsyncDisposable {
  readonly clock: Clock;
  readonly publishers: AdvisorySources;
  readonly fetcher: Fetcher;
  source(name: NetName, options?: { readonly apiKey?: string; readonly gapMs?: number }): AdvisorySource;
  ground(): Promise<Ground>;
  /** Days pass, for the publishers and for us. */
  pass(days: number): void;
}

export async function openWorld(options: Omit<Partial<AdvisorySourcesOptions>, 'now'> = {}): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const clock: Clock = { at: START };
  const publishers = stack.use(
    await createAdvisorySources({ seed: 'sync', ...options, now: () => new Date(clock.at) }),
  );
  const urls = ['nvdUrl', 'cveListUrl', 'kevUrl', 'epssUrl', 'osvUrl'] as const;
  const fetcher = stack.use(
    createFetcher({
      trustedOrigins: urls.map((name) => new URL(publishers[name]).origin),
      userAgent: 'StrataBot/test',
    }),
  );
  const owned = stack.move();
  return {
    clock,
    publishers,
    fetcher,
    source: (name, options) => sourceOf(name, publishers, options),
    ground: () => openGround(clock, fetcher),
    pass(days) {
      for (let i = 0; i < days; i += 1) {
        clock.at += DAY;
        publishers.advance(1);
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Addresses = Pick<AdvisorySources, 'nvdUrl' | 'cveListUrl' | 'rawUrl' | 'kevUrl' | 'epssUrl' | 'osvUrl'>;

export function sourceOf(
  name: NetName,
  urls: Addresses,
  { apiKey, gapMs = 0 }: { readonly apiKey?: string; readonly gapMs?: number } = {},
): AdvisorySource {
  const everyMs = 2 * HOUR;
  switch (name) {
    case 'kev':
      return kevSource({ url: urls.kevUrl, everyMs });
    case 'epss':
      return epssSource({ url: urls.epssUrl, everyMs });
    case 'nvd':
      return nvdSource({ url: urls.nvdUrl, apiKey, everyMs, gapMs });
    case 'osv':
      return osvSource({ baseUrl: urls.osvUrl, ecosystems: ['Packagist', 'npm'], everyMs });
    case 'cve':
      return cveListSource({ apiUrl: urls.cveListUrl, rawUrl: urls.rawUrl, everyMs });
  }
}

/** What the publishers call a source. */
export const publisherOf = (name: NetName) => (name === 'cve' ? 'cve-list' : name);
