// The conditions of a sentence that asks for a set of domains: `Which domains in Germany use Cloudflare, but not Google Workspace?` Pure, and
// linear in its length.
import type { Category } from '@strata/detect';
import { MAX_QUESTION } from '../intent.ts';
import { timeIn } from '../times.ts';
import { domainIn, splitWords } from '../words.ts';
import { type Condition, ConditionReader } from './condition-reader.ts';
import { isSpreadTerm, SET_NOUNS, type Term, USE_VERBS } from './condition-words.ts';
import { type Figures, figuresOf } from './figures.ts';

export interface Conditions {
  readonly all: readonly Condition[];
  /** Words that limit the set in a way that cannot be read. */
  readonly unread: readonly string[];
  /** `Which email providers …`: the market of the set is asked for. */
  readonly market: Category | undefined;
  readonly figures: Figures;
  /** Of the first conditions, before a verb: `banks` of `What share of banks use Cloudflare?` 0 without one before or after the verb. */
  readonly populationSize: number;
  /** The sentence asks for domains, and more than who uses one provider. */
  readonly isSet: boolean;
}

/** Each name is looked up. */
const MAX_CONDITIONS = 8;

/** `earlier`: the question before it, whose conditions `Which of them have DNSSEC?` adds to. */
export function conditionsOf(text: string, earlier?: string): Conditions {
  const every = text.length > MAX_QUESTION ? [] : splitWords(text);
  const { time, rest: words } = timeIn(every);
  const reader = new ConditionReader(words);
  while (reader.next());
  const lower = words.map(({ lower: word }) => word);
  const figures = figuresOf(lower);
  const refers = earlier !== undefined && lower.some((word) => ['them', 'those', 'these'].includes(word));
  const before = refers ? conditionsOf(earlier) : undefined;
  const read = [...(before?.all ?? []), ...reader.conditions];
  const market = reader.market ?? marketOf(lower, read);
  const kept = market === reader.market ? read : read.filter(({ is }) => is.kind === 'name' || !isOfCategory(is.term));
  const all = kept.slice(0, MAX_CONDITIONS);
  // Only changes have a time, whose answer reads it from the intent.
  const unread = [
    ...(before?.unread ?? []),
    ...reader.unread,
    ...figures.unread,
    ...(time && words.length < every.length ? [time.text] : []),
  ];
  if (kept.length > all.length) unread.push(`more than ${MAX_CONDITIONS} conditions`);
  const asksForDomains =
    refers ||
    lower.some((word) => SET_NOUNS.has(word)) ||
    (figures.isOfScores && all.some(({ is }) => is.kind === 'term')) ||
    (lower.includes('who') && lower.some((word) => USE_VERBS.has(word)));
  const isCounted = lower.includes('many') || lower.includes('number');
  const [first] = all;
  const domains = all.filter(
    ({ is }) => is.kind === 'name' && is.readings.some(({ name }) => domainIn(name) !== undefined),
  );
  // `How many domains publish DMARC?` asks for the spread of a standard.
  const isMore = all.length > 1 || figures.sort !== undefined || (first !== undefined && isSpecific(first, isCounted));
  // `Does example.com use Cloudflare and have DNSSEC?`
  const isOfDomain = domains.length === 1 && all.length > 2;
  return {
    ...{ all, unread, market, figures },
    populationSize: refers || reader.populationSize === all.length ? 0 : reader.populationSize,
    isSet: (asksForDomains && isMore) || isOfDomain,
  };
}

/** More than a provider or, where domains are counted, DMARC. */
const isSpecific = ({ is, isNegated }: Condition, isCounted: boolean): boolean =>
  isNegated ||
  (is.kind === 'term'
    ? !(isCounted && isSpreadTerm(is.term))
    : is.readings.length === 1 && (is.readings[0]?.category ?? is.readings[0]?.version) !== undefined);

const isOfCategory = ({ yes }: Term): boolean => yes.startsWith('category:');

/** `Which providers do banks use for email?` */
function marketOf(words: readonly string[], all: readonly Condition[]): Category | undefined {
  const asks = words.some(
    (word, at) => /^(?:which|what)$/.test(word) && /^(?:provider|vendor)s?$/.test(words[at + 1] ?? ''),
  );
  const terms = all.flatMap(({ is, isNegated }) =>
    is.kind === 'term' && isOfCategory(is.term) ? [{ ...is.term, isNegated }] : [],
  );
  const [one, another] = terms;
  return asks && one && !one.isNegated && !another ? (one.yes.slice('category:'.length) as Category) : undefined;
}
