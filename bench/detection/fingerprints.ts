// Community sets: what loading costs, and matching beside the usual way, every expression of a field on every value of it.
// STRATA_BENCH_FINGERPRINTS names a real set to measure with; without, an invented one of the same shape is made.
import { entries } from '@strata/catalog';
import {
  compileRulebook,
  detect,
  type Evidence,
  type FingerprintSet,
  loadCatalog,
  type Rulebook,
  readFingerprints,
} from '@strata/detect';
import { readFingerprintFiles } from '@strata/stack';
import { collectGarbage, type Figure, median, mib, perSecond, rateOf, setting, thousands, timed } from '../measure.ts';
import { pageAt, syntheticSet } from './fingerprint-world.ts';

const TECHNOLOGIES = 7_500;
const PAGES = 40;
/** The usual way takes a second for a page of the tenfold set. */
const NAIVE_PAGES = 3;
const RUN_MS = setting('SECONDS', 1.5) * 1_000;

export async function benchFingerprints(): Promise<Figure[]> {
  const catalog = loadCatalog(entries);
  const plain = compileRulebook(catalog);
  const real = process.env.STRATA_BENCH_FINGERPRINTS;
  const once = real ? mergedFiles((await readFingerprintFiles([real])).files) : syntheticSet(TECHNOLOGIES);
  const figures: Figure[] = [];
  for (const times of [1, 10]) {
    const content = times === 1 || real ? manifold(once, times) : syntheticSet(TECHNOLOGIES * times);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const { value: rulebookWith, seconds } = await timed(() => {
      const set = readFingerprints([{ name: 'technologies.json', content }]);
      return { set, rulebook: compileRulebook(catalog, { sets: set }) };
    });
    const { set, rulebook } = rulebookWith;
    const pages = Array.from({ length: PAGES }, (_, i) => pageAt(i, TECHNOLOGIES * times));
    const rate = rateWith(rulebook, pages);
    collectGarbage();
    const heap = process.memoryUsage().heapUsed - before;
    const setMs = 1_000 / rate - 1_000 / rateWith(plain, pages);
    const naiveMs = median(pages.slice(0, NAIVE_PAGES).map((page) => naiveMatch(set, page)));
    const what = `${thousands(set.report.technologies)} technologies`;
    const sourceless = rateWith(rulebook, pages.map(withoutSource));
    figures.push(
      [`${what}: load; heap`, `${seconds.toFixed(1)} s; ${mib(heap)}`, 'once, at start'],
      [`${what}: pages with their source of 40 KB; without`, `${perSecond(rate)}; ${perSecond(sourceless)}`],
      [
        `${what}: a page`,
        `${setMs.toFixed(2)} ms`,
        `running every expression ${naiveMs.toFixed(0)} ms: ${(naiveMs / setMs).toFixed(0)} ×`,
      ],
    );
  }
  return figures;
}

function rateWith(rulebook: Rulebook, pages: readonly Evidence[]): number {
  return rateOf(() => {
    for (const page of pages) detect(page, rulebook);
    return pages.length;
  }, RUN_MS);
}

function withoutSource(evidence: Evidence): Evidence {
  const { page } = evidence.http;
  if (!page) return evidence;
  const { source: _, ...rest } = page;
  return { ...evidence, http: { ...evidence.http, page: rest } };
}

function mergedFiles(
  files: readonly { readonly name: string; readonly content: unknown }[],
): Readonly<Record<string, unknown>> {
  const technologies = files.filter(({ name }) => !/(?:categories|groups)\.json$/.test(name));
  return Object.assign({}, ...technologies.map(({ content }) => content));
}

/** The set so many times over, with other words in the copies' names and expressions. */
function manifold(once: Readonly<Record<string, unknown>>, times: number): Readonly<Record<string, unknown>> {
  const copies = Array.from({ length: times }, (_, copy) =>
    Object.entries(once).map(([name, entry]) => {
      if (copy === 0) return [name, entry] as const;
      const text = JSON.stringify(entry, (key, value: unknown) =>
        key === 'website' ? `https://copy-${copy}.example/${name.length}` : value,
      );
      return [
        `${name} copy ${copy}`,
        JSON.parse(text.replaceAll(/(?<![\\\w"])[a-z]{5,}(?![\w"])/g, (word) => otherWord(word, copy))),
      ] as const;
    }),
  );
  return Object.fromEntries(copies.flat());
}

const COMMON = 'false https content plugins themes script assets static confidence version class example'.split(' ');

function otherWord(word: string, by: number): string {
  if (COMMON.includes(word)) return word;
  return word.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(97 + ((letter.charCodeAt(0) - 97 + by) % 26)));
}

/** Milliseconds that one page takes when each expression of a field is run on each value of it. */
function naiveMatch({ technologies }: FingerprintSet, { http, dns }: Evidence): number {
  const expressions = technologies.flatMap(({ patterns }) =>
    patterns.map(({ field, key, expression }) => ({ name: `${field} ${key}`, regex: new RegExp(expression, 'i') })),
  );
  const source = http.page?.source ?? '';
  const values = new Map<string, readonly string[]>([
    ['scriptSrc ', http.page?.assets ?? []],
    ['html ', [source]],
    ['text ', [source]],
    ['url ', [http.url ?? '']],
    ['dns TXT', dns.txt.records],
    ...Object.entries(http.headers).map(([name, value]) => [`headers ${name}`, [value]] as const),
    ...Object.entries(http.page?.metas ?? {}).map(([name, value]) => [`meta ${name}`, [value]] as const),
  ]);
  const startedAt = performance.now();
  for (const { name, regex } of expressions) for (const value of values.get(name) ?? []) regex.test(value);
  return performance.now() - startedAt;
}
