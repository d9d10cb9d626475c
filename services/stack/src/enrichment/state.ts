// The status of the advisory sources, and the numbers of their records.
import type { AdvisoryCounts, SourceState, Store, StoredSource } from '../store/index.ts';
import { SOURCE_NAMES, type SourceName } from './source.ts';

/** `off`: not configured. */
export interface SourceStatus extends Omit<StoredSource, 'state' | 'cursor'> {
  readonly state: SourceState | 'off';
  /** Stored records of the source. */
  readonly records: number;
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
}): Promise<{ readonly sources: readonly SourceStatus[]; readonly counts: AdvisoryCounts }> {
  const known = new Map((await store.sources.list(store.clock())).map((source) => [source.name, source]));
  const counts = await store.advisories.counts();
  const records = recordsOf(counts);
  const sources = SOURCE_NAMES.filter((name) => known.has(name) || name !== 'folder' || sourceNames.includes(name)).map(
    (name): SourceStatus => {
      const source = known.get(name);
      const isOn = sourceNames.includes(name);
      const kept = { records: records[name] };
      // A folder is mostly read by a command, and then not configured.
      if (source && (isOn || name === 'folder')) return { ...source, ...kept };
      if (source) return { ...source, ...kept, state: 'off', nextAt: null };
      return { ...NEVER, ...kept, name, state: isOn ? 'never' : 'off' };
    },
  );
  return { sources, counts };
}

/** Stored records per source; those of a folder are of all publishers. */
function recordsOf({ bySource, knownExploited, scores }: AdvisoryCounts): Readonly<Record<SourceName, number>> {
  const of = (source: string) => bySource[source] ?? 0;
  const all = Object.values(bySource).reduce((sum, count) => sum + count, 0);
  return {
    kev: knownExploited,
    epss: scores,
    nvd: of('nvd'),
    osv: of('osv') + of('ghsa'),
    cve: of('cna'),
    folder: all + knownExploited + scores,
  };
}
