// An index without a store in a process of its own: `build` makes it of the loaded world and saves it, `load` starts from
// the file and answers questions.
import { stat } from 'node:fs/promises';
import {
  type DayOfChanges,
  type DomainIndex,
  dayOf,
  IndexBuilder,
  type IndexedDomain,
  type IndexedMigration,
  inOrder,
  searchDomains,
} from '@strata/analytics';
import type { Category, ConfidenceLevel } from '@strata/detect';
import { loadIndex, saveIndex } from '@strata/stack';
import { type LoadedDomain, loadedWorld } from '@strata/testnet';
import { childArgument, collectGarbage, median, reportReady, timed } from '../measure.ts';
import { ENGINE_QUESTIONS } from './sets-engine-questions.ts';

/** Sums by day, category and provider; migrations in any order. */
interface Changes {
  readonly days: Map<string, { -readonly [Key in keyof DayOfChanges]: DayOfChanges[Key] }>;
  readonly migrations: IndexedMigration[];
}

const STORE = 'bench';
/** Domains made before they are added, so that only adding is timed; few, so that they are short-lived. */
const BATCH = 500;
const REPEATS = 15;

export interface IndexArgument {
  readonly step: 'build' | 'load';
  readonly domains: number;
  readonly endsAt: number;
  readonly file: string;
}

export interface BuiltIndex {
  readonly build: { readonly seconds: number; readonly cpuSeconds: number };
  readonly save: { readonly seconds: number; readonly bytes: number };
}

export interface LoadedIndex {
  readonly load: { readonly seconds: number; readonly cpuSeconds: number };
  readonly rss: number;
  readonly memory: Readonly<Record<string, number>>;
  /** Times of the processor. */
  readonly questions: readonly { readonly what: string; readonly firstMs: number; readonly againMs: number }[];
}

async function build({ domains, endsAt, file }: IndexArgument): Promise<BuiltIndex> {
  const builder = new IndexBuilder();
  const spent = { seconds: 0, cpuSeconds: 0 };
  const count = async <T>(work: () => T): Promise<T> => {
    const { value, seconds, cpuSeconds } = await timed(work);
    spent.seconds += seconds;
    spent.cpuSeconds += cpuSeconds;
    return value;
  };
  // As the store reads them: changes as sums of days, migrations in the order of time.
  const changes: Changes = { days: new Map(), migrations: [] };
  let batch: IndexedDomain[] = [];
  const putBatch = () => {
    for (const domain of batch) builder.put(domain);
    batch = [];
  };
  for (const domain of loadedWorld({ domains, endsAt }).domains()) {
    for (const change of domain.changes) addChange(change, domain.id, changes);
    if (batch.push(indexed(domain)) === BATCH) await count(putBatch);
  }
  await count(putBatch);
  const migrations = changes.migrations.sort((a, b) => a.confirmedAt - b.confirmedAt);
  await count(() => {
    for (const day of changes.days.values()) builder.history.addDay(day);
    for (const migration of migrations) builder.history.migrationLog.add(migration);
  });
  const index = await count(() => builder.build({ seq: 0, scanId: 0 }));
  const { seconds } = await timed(() => saveIndex(file, index, STORE));
  return { build: spent, save: { seconds, bytes: (await stat(file)).size } };
}

const indexed = (domain: LoadedDomain): IndexedDomain => ({
  ...domain,
  services: domain.services.map(
    ({ category, provider, confidence }) => [category as Category, provider, confidence as ConfidenceLevel] as const,
  ),
});

/** Counts a change on its day on both sides. */
function addChange(
  { category: name, confirmedAt, from, to, type, isEntry, isExit }: LoadedDomain['changes'][number],
  domainId: number,
  { days, migrations }: Changes,
): void {
  const category = name as Category;
  const day = dayOf(confirmedAt);
  const sumOf = (provider: string) => {
    const key = `${day} ${category} ${provider}`;
    const none = { gained: 0, entered: 0, lost: 0, exited: 0, migrated: 0, reclassified: 0 };
    const sum = days.get(key) ?? { day, category, provider, ...none };
    days.set(key, sum);
    return sum;
  };
  if (to !== null) {
    const sum = sumOf(to);
    sum.gained += 1;
    sum.entered += Number(isEntry);
    sum.migrated += Number(type === 'migrated');
  }
  if (from !== null) {
    const sum = sumOf(from);
    sum.lost += 1;
    sum.exited += Number(isExit);
  }
  if (type === 'migrated' && from !== null && to !== null)
    migrations.push({ confirmedAt, domainId, category, from, to });
}

async function load({ file }: IndexArgument): Promise<LoadedIndex> {
  const { value, seconds, cpuSeconds } = await timed(() => loadIndex(file, STORE, () => undefined));
  if (!value.index) throw new Error(value.why);
  const questions: { what: string; firstMs: number; againMs: number }[] = [];
  for (const { what, of, ask } of [...engineQuestions(), ...SEARCHES]) {
    for (const each of of) {
      const times: number[] = [];
      for (let i = 0; i < REPEATS; i += 1) times.push((await timed(() => ask(value.index, each))).cpuSeconds * 1_000);
      const [firstMs = 0, ...again] = times;
      questions.push({ what: `${what} ${each}`.trim(), firstMs, againMs: median(again) });
    }
  }
  collectGarbage();
  return { load: { seconds, cpuSeconds }, rss: process.memoryUsage().rss, memory: value.index.memory, questions };
}

interface Question {
  readonly what: string;
  readonly of: readonly string[];
  readonly ask: (index: DomainIndex, of: string) => unknown;
}

const engineQuestions = (): Question[] =>
  ENGINE_QUESTIONS.map(({ what, of, ours }) => ({ what, of: [...new Set(of)], ask: ours }));

const PAGE = { limit: 50, offset: 0 };
const SEARCHES: readonly Question[] = [
  {
    what: 'a part of the name',
    of: ['a', 'ba', '.com', 'shoutaxi'],
    ask: (index, part) => searchDomains(index, { part }, PAGE),
  },
  {
    what: 'a provider and a sector by part',
    of: ['a'],
    ask: (index, part) => searchDomains(index, { provider: 'provider-0001', sector: 'media', part }, PAGE),
  },
  {
    what: 'last scanned, first 50',
    of: ['provider-0001'],
    ask: (index, provider) => {
      const number = index.vocabulary.providers.find(provider) ?? 0;
      return inOrder(index, index.sets.provider(number), { by: 'scanned_at', isDescending: true }, PAGE);
    },
  },
];

const argument = childArgument<IndexArgument>();
reportReady(await (argument.step === 'build' ? build(argument) : load(argument)), () => {});
