// Dependencies of a sync without a server: configured sources, store and fetcher.

import path from 'node:path';
import type { Fetcher } from '@strata/scan';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { openFetcher } from '../scan/open-fetcher.ts';
import { openStoredRulebook } from '../scan/open-rulebook.ts';
import { openConfiguredStore } from '../scan/open-scanning.ts';
import type { Store } from '../store/index.ts';
import type { AdvisorySource } from './source.ts';
import { configuredSources } from './sources.ts';

export interface Enrichment extends AsyncDisposable {
  readonly store: Store;
  readonly fetcher: Fetcher;
  readonly sources: readonly AdvisorySource[];
  readonly sourceNames: readonly string[];
  readonly directory: string;
  readonly now: () => Date;
}

/** Directory for downloaded archives. */
export const advisoryDirectory = (config: Config): string => path.join(config.dataDirectory, 'advisories');

export async function openEnrichment(config: Config, world: World = {}): Promise<Enrichment> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openConfiguredStore(config, world));
  const now = world.now ?? store.clock;
  const fetcher = world.fetcher ?? stack.use(openFetcher(config, world));
  const { rulebook } = await openStoredRulebook(store, config, world);
  const sources = configuredSources(config, { rulebook, nvdGapMs: world.nvdGapMs });
  const sourceNames = sources.map(({ name }) => name);
  return Object.assign(stack.move(), {
    store,
    fetcher,
    sources,
    sourceNames,
    directory: advisoryDirectory(config),
    now,
  });
}
