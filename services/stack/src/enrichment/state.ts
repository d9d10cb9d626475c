// How fresh the advisories are: every source that is asked for, synced or not, and what they have brought.
import type { AdvisoryCounts, SourceState, Store, StoredSource } from '@strata/store';
import { SOURCE_NAMES } from './source.ts';

/** `off`: not asked for by the configuration. */
export interface TellableSource extends Omit<StoredSource, 'state' | 'cursor'> {
  readonly state: SourceState | 'off';
}

const NEVER = {
  startedAt: null,
  finishedAt: null,
  nextAt: null,
  error: null,
  failures: 0,
  read: 0,
  skipped: 0,
  skippedExample: null,
} as const;

/** In the order of `SOURCE_NAMES`. */
export async function enrichmentState({
  store,
  sourceNames,
}: {
  readonly store: Store;
  readonly sourceNames: readonly string[];
}): Promise<{ readonly sources: readonly TellableSource[]; readonly counts: AdvisoryCounts }> {
  const known = new Map((await store.sources.list(new Date())).map((source) => [source.name, source]));
  const sources = SOURCE_NAMES.filter((name) => known.has(name) || name !== 'folder' || sourceNames.includes(name)).map(
    (name): TellableSource => {
      const source = known.get(name);
      const isOn = sourceNames.includes(name);
      if (source) return isOn ? source : { ...source, state: 'off', nextAt: null };
      return { ...NEVER, name, state: isOn ? 'never' : 'off' };
    },
  );
  return { sources, counts: await store.advisories.counts() };
}
