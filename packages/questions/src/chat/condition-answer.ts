// Answers a question about a set of domains with one query of the query language, or says what of it cannot be read.
import { parseDomain } from '@strata/detect';
import { search } from '../questions/domains.ts';
import { marketShare, migrations } from '../questions/markets.ts';
import { VAGUE_WORDS } from './condition-words.ts';
import { type Condition, type Conditions, conditionsOf } from './conditions.ts';
import { escaped } from './escaped.ts';
import { type Intent, intentOf } from './intent.ts';
import type { Time } from './times.ts';
import type { ToolCall } from './tools.ts';
import type { Topic } from './topics.ts';
import { domainIn } from './words.ts';

/** What the answer needs of a service. */
export interface ConditionDeps {
  /** A provider by name, id or alias; undefined for another name. */
  readonly provider: (name: string) => Promise<{ readonly provider_id: string; readonly provider: string } | undefined>;
  /** The answer of a tool, as lines. */
  readonly section: (call: ToolCall) => Promise<readonly string[]>;
  readonly link: (path: string) => string;
}

export const CHANGES: ReadonlySet<Topic> = new Set(['lost', 'gained', 'moves']);
/** Of these topics the service has answers about a name, not about a set. */
const OF_A_NAME: ReadonlySet<Topic> = new Set(['risk', 'vulnerabilities', 'alerts']);
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
  if (!isAnyKnown && !conditions.isSet) return undefined;
  const { time } = intent ?? {};
  const missing = [...conditions.unread, ...unread];
  const query = queryOf(terms);
  if (kind === 'changes') return changesAnswer(topic, { terms, missing, time }, deps);
  if (missing.length > 0) return unreadAnswer(missing, query, deps);
  if (kind === 'unsupported')
    return [
      `I cannot limit this question to a set of domains, and do not answer another one. The set is ${linked(query, deps)}.`,
    ];
  const { market } = conditions;
  // The share of a provider is among all domains of the set, not among its own.
  const set = kind === 'share' ? queryOf(terms.filter((each) => each.provider === undefined || each.isNegated)) : query;
  const isList = market === undefined && kind === 'set';
  // The pages of markets and migrations have no query: the search shows the set.
  const page = pageOf(set);
  const call: ToolCall = isList
    ? { question: search, input: { query, limit: LIMIT }, page }
    : { question: marketShare, input: { query: set, limit: 10, ...(market ? { category: market } : {}) }, page };
  const asked = isList ? 'The question as a query' : 'Shares among the domains of the query';
  return [`${asked}: ${coded(set)}.${note(set)}`, ...(await deps.section(call))];
}

type Kind = 'set' | 'share' | 'changes' | 'unsupported';

function kindOf(topic: Topic, { all, isSet }: Conditions, intent: Intent | undefined): Kind | undefined {
  const isDomain = ({ is }: Condition) => is.kind === 'name' && is.readings.some(({ name }) => domainIn(name));
  const names = all.filter((each) => each.is.kind === 'name' && !isDomain(each));
  const isQualified = all.length > names.length || all.some(({ isNegated }) => isNegated);
  if (intent?.isComparison === true) return isQualified ? 'unsupported' : undefined;
  const hasDomain = all.some(isDomain);
  if (CHANGES.has(topic)) return !hasDomain && all.length > 1 ? 'changes' : undefined;
  if (OF_A_NAME.has(topic)) return isSet ? 'unsupported' : undefined;
  if (isSet) return 'set';
  // A share of one category is in the answer about the provider.
  const isOfCategory = all.every(({ is }) => is.kind === 'name' || is.term.yes.startsWith('category:'));
  const isShare = (topic === 'share' || topic === 'adoption') && isQualified && !isOfCategory;
  return isShare && !hasDomain && all.length > 1 ? 'share' : undefined;
}

const HOST = /^[\p{L}\p{N}.-]+$/u;

interface ResolvedTerm {
  readonly text: string;
  readonly provider: string | undefined;
  /** The name of the provider. */
  readonly label: string | undefined;
  readonly isNegated: boolean;
  readonly isAlternative: boolean;
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
    const text = found?.text ?? (isHost ? `domain:${host}` : undefined);
    if (text === undefined) unread.push(is.readings[0]?.name ?? name);
    else {
      const { id, label } = found ?? {};
      terms.push({ text: isNegated ? `NOT ${text}` : text, provider: id, label, isNegated, isAlternative });
    }
    isAnyKnown ||= text !== undefined;
  }
  return { terms, unread, isAnyKnown };
}

/** Of the first reading that is a provider's name. */
async function providerTerm(
  readings: readonly { readonly name: string; readonly category?: string | undefined }[],
  provider: ConditionDeps['provider'],
): Promise<{ readonly id: string; readonly label: string; readonly text: string } | undefined> {
  for (const { name, category } of readings) {
    const { provider_id: id = '', provider: label = id } = (await provider(name)) ?? {};
    if (/^[a-z0-9][a-z0-9-]*$/.test(id)) return { id, label, text: `${category ?? 'provider'}:${id}` };
  }
  return undefined;
}

/** AND of the terms, with each run of alternatives in parentheses. */
function queryOf(terms: readonly Pick<ResolvedTerm, 'text' | 'isAlternative'>[]): string {
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

const pageOf = (query: string): string => `/search?${new URLSearchParams({ query })}`;
const coded = (query: string): string => `\`${query}\``;
const linked = (query: string, { link }: Pick<ConditionDeps, 'link'>): string =>
  `the query ${coded(query)} ([search](${link(pageOf(query))}))`;

/** What a reader may take a term for. */
const note = (query: string): string =>
  query.includes('country:') ? ' The country is that of the top-level domain or of the network of the address.' : '';
