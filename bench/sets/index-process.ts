// An index without a store in a process of its own: `build` makes it of the loaded world and saves it, `load` starts from
// the file and answers questions.
import { stat } from 'node:fs/promises';
import { type DomainIndex, IndexBuilder, inOrder, searchDomains } from '@strata/analytics';
import type { Category, ConfidenceLevel } from '@strata/detect';
import { loadIndex, saveIndex } from '@strata/stack';
import { type LoadedDomain, loadedWorld } from '@strata/testnet';
import { childArgument, collectGarbage, median, reportReady, timed } from '../measure.ts';
import { ENGINE_QUESTIONS } from './sets-engine-questions.ts';

type IndexedChange = Parameters<IndexBuilder['history']['add']>[0];

const STORE = 'bench';
/** Domains made before they are added, so that both are timed. */
const BATCH = 5_000;
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
  let batch: LoadedDomain[] = [];
  const migrations: IndexedChange[] = [];
  const putBatch = () => {
    for (const domain of batch) migrations.push(...put(builder, domain));
    batch = [];
  };
  for (const domain of loadedWorld({ domains, endsAt }).domains())
    if (batch.push(domain) === BATCH) await count(putBatch);
  await count(putBatch);
  // As the store reads them: the log of migrations is in the order of time.
  migrations.sort((a, b) => a.confirmedAt - b.confirmedAt);
  await count(() => {
    for (const migration of migrations) builder.history.add(migration);
  });
  const index = await count(() => builder.build({ seq: 0, scanId: 0 }));
  const { seconds } = await timed(() => saveIndex(file, index, STORE));
  return { build: spent, save: { seconds, bytes: (await stat(file)).size } };
}

/** Adds a domain and its changes; returns its migrations, which are added later. */
function put(builder: IndexBuilder, domain: LoadedDomain): IndexedChange[] {
  const services = domain.services.map(
    ({ category, provider, confidence }) => [category as Category, provider, confidence as ConfidenceLevel] as const,
  );
  builder.put({ ...domain, services });
  const changes = domain.changes.map((change) => ({
    ...change,
    domainId: domain.id,
    category: change.category as Category,
  }));
  for (const change of changes) if (change.type !== 'migrated') builder.history.add(change);
  return changes.filter(({ type }) => type === 'migrated');
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
