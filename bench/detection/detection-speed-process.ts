// Detection alone, of evidence as it lies in a store: nothing else has run in the process that could slow it or warm it.
import { readFileSync } from 'node:fs';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, type Evidence, loadCatalog, type Rulebook } from '@strata/detect';
import { childArgument, median, rateOf, reportReady, setting } from '../measure.ts';

export interface DetectionSpeed {
  /** Domains a second. */
  readonly rate: number;
  readonly manyRate: number;
  /** Of the time with ten times the rules to the time with them once. */
  readonly slowdown: number;
  /** Of the rate to that of `JSON.parse` of the same evidence. */
  readonly ofParse: number;
}

/** Not patterns, or of which no two providers can have as many. */
const NOT_COPIED: ReadonlySet<string> = new Set(['examples', 'counterexamples', 'address', 'dkim', 'txtAt']);

const RUN_MS = setting('SECONDS', 0.6) * 1_000;
const { file } = childArgument<{ readonly file: string }>();
const texts = readFileSync(file, 'utf8').split('\n');
const evidence = texts.map((text) => JSON.parse(text) as Evidence);
const rulebook = compileRulebook(loadCatalog(entries));
const many = compileRulebook(loadCatalog(multiplied(entries, 10)));

const detectAll = (rules: Rulebook) => () => {
  for (const each of evidence) detect(each, rules);
  return evidence.length;
};
const parseAll = () => {
  for (const text of texts) JSON.parse(text);
  return texts.length;
};
const rates = Array.from({ length: 9 }, () => ({
  detect: rateOf(detectAll(rulebook), RUN_MS),
  many: rateOf(detectAll(many), RUN_MS),
  parse: rateOf(parseAll, RUN_MS / 2),
}));
const of = (pick: (each: (typeof rates)[number]) => number) => median(rates.map(pick));
const speed: DetectionSpeed = {
  rate: of((each) => each.detect),
  manyRate: of((each) => each.many),
  slowdown: of((each) => each.detect / each.many),
  ofParse: of((each) => each.detect / each.parse),
};
reportReady(speed, async () => {});

type Json = Readonly<Record<string, unknown>>;

/** The entries, and each of them again until there are `times` as many rules. */
function multiplied(entries: readonly unknown[], times: number): unknown[] {
  const copies = Array.from({ length: times - 1 }, (_, n) =>
    entries.map((entry, i) => copyOf(entry as Json, `z${n}`, 4_200_000_000 + n * 1_000_000 + i * 100)),
  );
  return [...entries, ...copies.flat().filter(({ rules }) => (rules as readonly Json[]).length > 0)];
}

function copyOf({ id, name, website, kinds, rules }: Json, mark: string, firstAsn: number): Json {
  let asn = firstAsn;
  return {
    id: `${mark}-${id}`,
    name: `${mark} ${name}`.slice(0, 64),
    website,
    kinds,
    rules: (rules as readonly Json[]).flatMap((group) => {
      const fields = Object.entries(group)
        .filter(([key]) => !NOT_COPIED.has(key))
        .map(([key, value]) => [key, Array.isArray(value) ? value.map(each(key)) : within(key, value)] as const);
      return fields.some(([, value]) => typeof value === 'object') ? [Object.fromEntries(fields)] : [];
    }),
  };

  function each(key: string) {
    return (pattern: unknown): unknown => {
      if (typeof pattern === 'number') return asn++;
      if (typeof pattern === 'string') return marked(key, pattern);
      return within(key, pattern);
    };
  }

  /** `{ name, value }` of a header, `{ label, target }` of a name, the lists of a page. */
  function within(key: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([part, each]) => {
        if (Array.isArray(each))
          return [part, each.map((one) => (typeof one === 'string' ? marked(part, one) : within(part, one)))];
        const isKept = key === 'named' ? part === 'label' : part === 'version' || (part === 'name' && 'value' in value);
        return [part, isKept ? each : marked(part, String(each))];
      }),
    );
  }

  function marked(kind: string, pattern: string): string {
    const isHost = ['ns', 'soa', 'mx', 'spf', 'dmarc', 'caa', 'cname', 'target', 'asset'].includes(kind);
    if (!isHost) return `${mark}-${pattern}`.slice(0, 128);
    if (pattern.startsWith('/')) return `/${mark}${pattern.slice(1)}`;
    // The registrable label changes, so that the tries grow as with other companies' hosts.
    const [host = '', ...path] = pattern.split('/');
    const labels = host.split('.');
    const at = Math.max(0, labels.length - 2);
    labels[at] = `${mark}${labels[at]}`;
    return [labels.join('.'), ...path].join('/');
  }
}
