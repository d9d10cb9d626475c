// The figures of a set of domains that a sentence asks for, in place of the list: a share, scores, an order, a comparison.

import { comparison, securityScorecard } from '../../questions/markets.ts';
import { percent } from '../../questions/text.ts';
import { escaped } from '../escaped.ts';
import type { ToolCall } from '../tools.ts';

/** What the figures need of a service. */
export interface FigureDeps {
  /** The answer of a tool, as lines. */
  readonly section: (call: ToolCall) => Promise<readonly string[]>;
  /** The number of domains of a query. */
  readonly count: (query: string) => Promise<number>;
}

export interface Figures {
  readonly isShare: boolean;
  /** The grades and the mean score of the set. */
  readonly isOfScores: boolean;
  readonly sort: 'score' | '-score' | undefined;
  /** An order or a mean that is not of scores. */
  readonly unread: readonly string[];
}

const SHARE_WORDS = new Set('share shares percent percentage proportion fraction'.split(' '));
const SCORE_WORDS = new Set('score scores scored grade grades scoring posture secure secured'.split(' '));
const WORST_WORDS = new Set('worst lowest weakest poorest'.split(' '));
const BEST_WORDS = new Set('best highest strongest top'.split(' '));
const ORDER_WORDS = new Set('sorted ordered'.split(' '));
const MEAN_WORDS = new Set('average mean'.split(' '));

export function figuresOf(words: readonly string[]): Figures {
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  const isOfScores = has(SCORE_WORDS);
  const unread = words.filter((word) => WORST_WORDS.has(word) || MEAN_WORDS.has(word) || word === 'highest');
  return {
    isShare: has(SHARE_WORDS),
    isOfScores: isOfScores && (has(MEAN_WORDS) || ['secure', 'posture'].some((word) => words.includes(word))),
    sort: isOfScores ? orderOf(has) : undefined,
    unread: isOfScores ? [] : unread,
  };
}

function orderOf(has: (words: ReadonlySet<string>) => boolean): Figures['sort'] {
  if (has(WORST_WORDS)) return 'score';
  return has(BEST_WORDS) || has(ORDER_WORDS) ? '-score' : undefined;
}

/** A term of a query. */
export interface QueryTerm {
  readonly text: string;
  /** The name of the provider. */
  readonly label?: string | undefined;
  readonly isNegated: boolean;
  readonly isAlternative: boolean;
}

/** AND of the terms, with each run of alternatives in parentheses. */
export function queryOf(terms: readonly Pick<QueryTerm, 'text' | 'isAlternative'>[]): string {
  const groups: string[][] = [];
  for (const { text, isAlternative } of terms) {
    const last = groups.at(-1);
    if (isAlternative && last) last.push(text);
    else groups.push([text]);
  }
  const texts = groups.map((group) =>
    group.length > 1 && groups.length > 1 ? `(${group.join(' OR ')})` : group.join(' OR '),
  );
  return texts.join(' AND ');
}

const MEASURED = /^(?:NOT )?(dmarc|spf|dnssec|caa|bimi|mta_sts|tls_rpt|tls):/;
/** What a domain is, other than what it uses. */
const IS_POPULATION = /^(?:country|tld|sector|state|grade|score|domain):/;

/** `size`: of the first terms, which name the population. Without it, country, sector and the like do. */
export async function shareLine(
  terms: readonly QueryTerm[],
  size: number,
  { count }: Pick<FigureDeps, 'count'>,
): Promise<string> {
  const isPopulation = ({ text, isNegated }: QueryTerm, at: number) =>
    size > 0 ? at < size : !isNegated && IS_POPULATION.test(text);
  const all = terms.every(isPopulation);
  const population = all ? [] : terms.filter(isPopulation);
  const [first, ...further] = all ? terms : terms.filter((each, at) => !isPopulation(each, at));
  if (!first) return '';
  const part = [{ ...first, isAlternative: false }, ...further];
  // As in the scorecard: of the domains that a scan has measured.
  const measured = new Set(part.flatMap(({ text }) => MEASURED.exec(text)?.[1] ?? []));
  const base = [
    ...population,
    ...['state:live', ...[...measured].map((field) => `NOT ${field}:unmeasured`)].map((text) => ({ text, ...PLAIN })),
  ];
  const [some, every] = [await count(queryOf([...base, ...part])), await count(queryOf(base))];
  return `${some} of ${every} domains of \`${queryOf(base)}\` (${percent(every === 0 ? null : some / every)}) match \`${queryOf(part)}\`.`;
}

const PLAIN = { isNegated: false, isAlternative: false } as const;

/** `banks and retailers`: two sets. `A and B in Germany`: the shares of providers in a set. Undefined for other terms. */
export async function setComparison(
  terms: readonly QueryTerm[],
  market: string | undefined,
  deps: FigureDeps,
): Promise<readonly string[] | undefined> {
  if (terms.some(({ isNegated }) => isNegated)) return undefined;
  const providers = terms.filter(({ label }) => label !== undefined);
  const rest = terms.filter(({ label }) => label === undefined);
  if (providers.length > 1 && providers.length < 4) {
    const lines: string[] = [];
    for (const each of providers)
      lines.push(
        `- ${escaped(each.label ?? '')}: ${await shareLine([...rest, { ...each, isAlternative: false }], rest.length, deps)}`,
      );
    return lines;
  }
  const at = rest.findIndex(({ isAlternative }) => isAlternative);
  const [one, other] = [rest[at - 1], rest[at]];
  const isPair = one && other && rest.filter(({ isAlternative }) => isAlternative).length === 1;
  if (!isPair || providers.length > 0) return undefined;
  const common = rest.filter((each) => each !== one && each !== other);
  const category = market ?? common.flatMap(({ text }) => /^category:(.*)/.exec(text)?.[1] ?? [])[0];
  const kept = common.filter(({ text }) => IS_POPULATION.test(text));
  const [a, b] = [one, other].map((each) => queryOf([...kept, { ...each, isAlternative: false }]));
  const page = `/compare?${new URLSearchParams({ kind: 'segments', a: a ?? '', b: b ?? '' })}`;
  if (!common.some(({ text }) => MEASURED.test(text))) {
    const input = { a, b, ...(category ? { category, limit: 8 } : {}) };
    return [`a is \`${a}\`, b is \`${b}\`.`, ...(await deps.section({ question: comparison, input, page }))];
  }
  const lines: string[] = [];
  for (const query of [a, b])
    lines.push(
      `Of \`${query}\`:`,
      ...(await deps.section({ question: securityScorecard, input: { query, limit: 1 }, page })),
    );
  return lines;
}
