// Answers a question about a set of domains with one query of the query language, or says what of it cannot be read.
import { parseDomain } from '@strata/detect';
import { search } from '../../questions/domains.ts';
import { marketShare, migrations, securityScorecard } from '../../questions/markets.ts';
import { escaped } from '../escaped.ts';
import { type Intent, intentOf } from '../intent.ts';
import type { Time } from '../times.ts';
import type { ToolCall } from '../tools.ts';
import { CHANGES, kindOfName, type Topic } from '../topics.ts';
import { domainIn } from '../words.ts';
import type { Condition, Reading } from './condition-reader.ts';
import { VAGUE_WORDS } from './condition-words.ts';
import { type Conditions, conditionsOf } from './conditions.ts';
import { type FigureDeps, type Figures, type QueryTerm, queryOf, setComparison, shareLine } from './figures.ts';

/** What the answer needs of a service. */
export interface ConditionDeps extends FigureDeps {
  /** A provider by name, id or alias; undefined for another name. */
  readonly provider: (name: string) => Promise<{ readonly provider_id: string; readonly provider: string } | undefined>;
  readonly link: (path: string) => string;
}

/** Of these topics the service has answers about a name, not about a set. */
const OF_A_NAME: ReadonlySet<Topic> = new Set(['risk', 'vulnerabilities', 'alerts', 'anomalies', 'news']);
const LIMIT = 8;

/** The number of conditions of a sentence that asks for a set of domains; 0 for another one. */
export function conditionCount(text: string, earlier?: string): number {
  const { all, isSet } = conditionsOf(text, earlier);
  return isSet ? all.length : 0;
}

/** Undefined for a sentence without conditions, which other answers are for. */
export async function conditionAnswer(
  { text, earlier }: { readonly text: string; readonly earlier: string | undefined },
  deps: ConditionDeps,
): Promise<readonly string[] | undefined> {
  const conditions = conditionsOf(text, earlier);
  const intent = intentOf(text, earlier);
  const topic = intent?.topic ?? 'overview';
  const kind = kindOf(topic, conditions, intent);
  if (kind === undefined) return undefined;
  const { terms, unread, isAnyKnown } = await resolved(conditions.all, deps.provider);
  if (!isAnyKnown && !conditions.isSet && conditions.market === undefined) return undefined;
  const { time } = intent ?? {};
  const missing = [...conditions.unread, ...unread];
  const query = queryOf(terms);
  if (kind === 'changes') return changesAnswer(topic, { terms, missing, time }, deps);
  if (missing.length > 0) return unreadAnswer(missing, query, deps);
  const compared = kind === 'comparison' ? await setComparison(terms, conditions.market, deps) : undefined;
  if (compared) return compared;
  if (kind === 'unsupported' || kind === 'comparison')
    return [
      `I cannot limit this question to a set of domains, and do not answer another one. The set is ${linked(query, deps)}.`,
    ];
  const { market, figures, populationSize } = conditions;
  // The share of a provider is among all domains of the set, not among its own.
  const set = kind === 'share' ? queryOf(terms.filter((each) => each.provider === undefined || each.isNegated)) : query;
  const isList = market === undefined && kind === 'set';
  const call: ToolCall = isList
    ? setCall(query, figures)
    : {
        question: marketShare,
        input: { query: set, limit: 10, ...(market ? { category: market } : {}) },
        page: pageOf(set),
      };
  const { sort } = figures;
  const asked = isList ? 'The question as a query' : 'Shares among the domains of the query';
  return [
    ...(figures.isShare && isList ? [await shareLine(terms, populationSize, deps)] : []),
    `${set === '' ? 'All live domains' : `${asked}: ${coded(set)}`}${sort ? `, by score, the ${sort === 'score' ? 'lowest' : 'highest'} first` : ''}.${note(set)}`,
    ...(await deps.section(call)),
  ];
}

/** The scores of the domains of a query, or a list of them. */
function setCall(query: string, { isOfScores, sort }: Figures): ToolCall {
  if (isOfScores && sort === undefined)
    return { question: securityScorecard, input: { query, limit: 1 }, page: '/security' };
  const page = pageOf(query);
  return {
    question: search,
    input: { limit: LIMIT, ...(query === '' ? { state: 'live' } : { query }), ...(sort && { sort }) },
    page: sort ? `${page}&sort=${sort}` : page,
  };
}

type Kind = 'set' | 'share' | 'comparison' | 'changes' | 'unsupported';

function kindOf(topic: Topic, { all, isSet, market }: Conditions, intent: Intent | undefined): Kind | undefined {
  const isDomain = ({ is }: Condition) => is.kind === 'name' && is.readings.some(({ name }) => domainIn(name));
  const names = all.filter((each) => each.is.kind === 'name' && !isDomain(each));
  const isQualified = all.length > names.length || all.some(({ isNegated }) => isNegated);
  const hasDomain = all.some(isDomain);
  const isOfDomains = all.every(isDomain);
  if (intent?.isComparison === true) return isQualified && !isOfDomains ? 'comparison' : undefined;
  if (CHANGES.has(topic)) return !hasDomain && all.length > 1 ? 'changes' : undefined;
  if (OF_A_NAME.has(topic)) return isSet ? 'unsupported' : undefined;
  if (isSet) return 'set';
  // A share of one category is in the answer about the provider.
  const isOfCategory = all.every(({ is }) => is.kind === 'name' || is.term.yes.startsWith('category:'));
  const isShare = (topic === 'share' || topic === 'adoption') && isQualified && !isOfCategory;
  return isShare && !hasDomain && (all.length > 1 || market !== undefined) ? 'share' : undefined;
}

/** `a tag manager` */
function kindTerm(name: string): string | undefined {
  const kind = kindOfName(name);
  return kind && `kind:${kind}`;
}

const HOST = /^[\p{L}\p{N}.-]+$/u;

interface ResolvedTerm extends QueryTerm {
  readonly provider: string | undefined;
}

async function resolved(all: readonly Condition[], provider: ConditionDeps['provider']) {
  const terms: ResolvedTerm[] = [];
  const unread: string[] = [];
  let isAnyKnown = false;
  for (const { is, isNegated, isAlternative } of all) {
    if (is.kind === 'term') {
      const text = isNegated ? is.term.no : is.term.yes;
      terms.push({ text, provider: undefined, label: undefined, isNegated, isAlternative });
      continue;
    }
    const found = await providerTerm(is.readings, provider);
    const [{ name } = { name: '' }] = is.readings.slice(-1);
    const host = domainIn(name.toLowerCase());
    const isHost = host !== undefined && HOST.test(host) && parseDomain(host).ok;
    const text = found?.text ?? (isHost ? `domain:${host}` : kindTerm(name));
    if (text === undefined) unread.push(is.readings[0]?.name ?? name);
    else {
      const { id, label } = found ?? {};
      terms.push({ text: isNegated ? `NOT ${text}` : text, provider: id, label, isNegated, isAlternative });
    }
    isAnyKnown ||= text !== undefined;
  }
  return { terms, unread, isAnyKnown };
}

/** `=7.4` has every 7.4.x. */
function versionTerm(id: string, version: string): string {
  if (!version.startsWith('=')) return `version:${id}${version}`;
  const numbers = version.slice(1).split('.').map(Number);
  const next = [...numbers.slice(0, -1), (numbers.at(-1) ?? 0) + 1].join('.');
  return `(version:${id}>${version} AND version:${id}<${next})`;
}

/** Of the first reading that is a provider's name. */
async function providerTerm(
  readings: readonly Reading[],
  provider: ConditionDeps['provider'],
): Promise<{ readonly id: string; readonly label: string; readonly text: string } | undefined> {
  for (const { name, category, version } of readings) {
    const { provider_id: id = '', provider: label = id } = (await provider(name)) ?? {};
    if (/^[a-z0-9][a-z0-9-]*$/.test(id))
      return { id, label, text: version ? versionTerm(id, version) : `${category ?? 'provider'}:${id}` };
  }
  return undefined;
}

interface ChangesOf {
  readonly terms: readonly ResolvedTerm[];
  readonly missing: readonly string[];
  readonly time: Time | undefined;
}

/** `Who moved from GoDaddy to Cloudflare in Germany?`: one or two providers, and a query for the rest. */
async function changesAnswer(
  topic: Topic,
  { terms, missing, time }: ChangesOf,
  deps: ConditionDeps,
): Promise<readonly string[]> {
  const named = terms.filter(({ provider }) => provider !== undefined);
  const query = queryOf(terms.filter(({ provider }) => provider === undefined));
  const [provider, other] = named.map((each) => each.provider);
  const isUnclear = named.length > 2 || named.some(({ isNegated, isAlternative }) => isNegated || isAlternative);
  const unread = missing.filter((each) => !isVague(each) && !(time?.window && each === time.text));
  if (unread.length > 0 || isUnclear)
    return unreadAnswer(isUnclear ? named.map(({ provider: id }) => id ?? '') : unread, query, deps);
  const direction = topic === 'gained' ? 'in' : 'out';
  const input = {
    ...(time?.window ?? { days: 30 }),
    limit: LIMIT,
    ...(provider === undefined ? {} : { provider, direction }),
    ...(other === undefined ? {} : { other }),
    ...(query === '' ? {} : { query }),
  };
  const params = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
  params.delete('limit');
  const [of, to] = direction === 'in' ? ['to', 'from'] : ['from', 'to'];
  const asked = [
    'Migrations',
    ...named.map(({ label = '' }, i) => `${i === 0 ? of : to} ${escaped(label)}`),
    ...(query === '' ? [] : [`of the domains of the query ${coded(query)}`]),
  ];
  const page = query === '' ? `/migrations?${params}` : pageOf(query);
  const answer = await deps.section({ question: migrations, input, page });
  return [`${asked.join(' ')}:${note(query)}`, ...answer];
}

export function unreadAnswer(
  missing: readonly string[],
  query: string,
  deps: Pick<ConditionDeps, 'link'>,
): readonly string[] {
  const names = missing.map((each) => `“${escaped(each)}”`).join(' and ');
  return [
    `I did not understand ${names}, and do not answer another question instead.`,
    ...(query === '' ? [] : [`The rest of the question is ${linked(query, deps)}.`]),
  ];
}

const isVague = (text: string): boolean => text.split(' ').every((word) => VAGUE_WORDS.has(word.toLowerCase()));

/** The pages of markets and migrations have no query: the search shows the set. */
const pageOf = (query: string): string => `/search?${new URLSearchParams({ query })}`;
const coded = (query: string): string => `\`${query}\``;
const linked = (query: string, { link }: Pick<ConditionDeps, 'link'>): string =>
  `the query ${coded(query)} ([search](${link(pageOf(query))}))`;

/** What a reader may take a term for. */
const note = (query: string): string =>
  query.includes('country:') ? ' The country is that of the top-level domain or of the network of the address.' : '';
