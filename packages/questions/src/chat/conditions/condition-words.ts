// The words by which a sentence names a condition of the query language.
import { type Category, ROLE_FACTS, ROLE_LIST, ROLES, type SECTORS } from '@strata/detect';
import { isOtherWord, topicOf } from '../topics.ts';
import { countryAt, isNation, nationOf } from './country-words.ts';

/** Two terms: the condition, and its opposite where that is more than NOT. `NOT dnssec:yes` has domains that no scan has measured. */
export interface Term {
  readonly yes: string;
  readonly no: string;
}

/** A condition, and the number of words that name it. */
interface Found {
  readonly term: Term;
  readonly length: number;
}

const plainTerm = (yes: string): Term => ({ yes, no: `NOT ${yes}` });

/** The condition that words from this position name; `raw` are the same words as they are written. */
export function termAt(words: readonly string[], raw: readonly string[], at: number): Found | undefined {
  return (
    policyAt(words, at) ??
    certificateAt(words, at) ??
    numberAt(words, raw, at) ??
    roleAt(words, at) ??
    hostedAt(words, raw, at) ??
    inCountryAt(words, raw, at) ??
    nationAt(words, raw, at) ??
    wordAt(words[at] ?? '') ??
    softwareAt(words, at)
  );
}

const STANDARDS: ReadonlyMap<string, Term> = new Map([
  ['spf', { yes: 'spf:valid', no: 'spf:missing' }],
  ...['dnssec', 'caa', 'bimi', 'mta-sts', 'tls-rpt'].map((name): [string, Term] => {
    const field = name.replace('-', '_');
    return [name, { yes: `${field}:yes`, no: `${field}:no` }];
  }),
]);

const POLICIES = new Set(['none', 'quarantine', 'reject']);
const ENFORCED = new Set(['enforce', 'enforces', 'enforced', 'enforcing', 'enforcement']);
const POLICY_FILLERS = new Set(['policy', 'policies', 'at', 'set', 'to', 'is', 'of', 'with', 'p', 'a', 'an']);
/** Words between the standard and its value. */
const MAX_FILLERS = 4;

/** `DMARC`, `DMARC policy reject`, `enforce DMARC`, `MTA-STS` */
function policyAt(words: readonly string[], at: number): Found | undefined {
  const word = words[at] ?? '';
  const standard = STANDARDS.get(word);
  if (standard) return { term: standard, length: 1 };
  const first = ENFORCED.has(word) ? at + 1 : at;
  if (words[first] !== 'dmarc') return undefined;
  const enforced = { yes: 'dmarc:(quarantine OR reject)', no: 'NOT dmarc:(quarantine OR reject)' };
  if (first > at) return { term: enforced, length: 2 };
  let next = at + 1;
  while (next - at <= MAX_FILLERS && POLICY_FILLERS.has(words[next] ?? '')) next += 1;
  const value = words[next] ?? '';
  if (POLICIES.has(value)) return { term: plainTerm(`dmarc:${value}`), length: next + 1 - at };
  if (ENFORCED.has(value)) return { term: enforced, length: next + 1 - at };
  return { term: { yes: 'dmarc:valid', no: 'dmarc:missing' }, length: 1 };
}

const CERTIFICATE_WORDS = new Set('certificate certificates cert certs tls ssl https'.split(' '));

/** `expired TLS certificate`, `an untrusted certificate` */
function certificateAt(words: readonly string[], at: number): Found | undefined {
  const state = /^(?:expired|untrusted)$/.exec(words[at] ?? '')?.[0];
  if (state === undefined) return undefined;
  let end = at + 1;
  while (CERTIFICATE_WORDS.has(words[end] ?? '')) end += 1;
  return end === at + 1 ? undefined : { term: plainTerm(`tls:${state}`), length: end - at };
}

const COMPARISONS: Readonly<Record<string, string>> = {
  ...{ below: '<', under: '<', less: '<', lower: '<', above: '>', over: '>', more: '>', higher: '>', greater: '>' },
  ...{ least: '>=', most: '<=' },
};

const GRADES = ['a+', 'a', 'b', 'c', 'd', 'f'];
/** `grade A+`, `score below 50`, `a score of at least 80` */
function numberAt(words: readonly string[], raw: readonly string[], at: number): Found | undefined {
  if (words[at] === 'grade' || words[at] === 'grades') {
    const grade = /^(?:a\+|[abcdf])$/i.exec(raw[at + 1] ?? '')?.[0].toLowerCase();
    if (grade === undefined) return undefined;
    // `grade C or better`
    const order = words[at + 2] === 'or' ? words[at + 3] : undefined;
    const rank = GRADES.indexOf(grade);
    if (order === 'better' || order === 'worse') {
      const chosen = order === 'better' ? GRADES.slice(0, rank + 1) : GRADES.slice(rank);
      return { term: plainTerm(`grade:(${chosen.join(' OR ')})`), length: 4 };
    }
    return { term: plainTerm(`grade:${grade}`), length: 2 };
  }
  if (!/^score[sd]?$/.test(words[at] ?? '')) return undefined;
  const [from = '', to = ''] = [words[at + 2], words[at + 4]].map((word) => /^\d{1,2}$|^100$/.exec(word ?? '')?.[0]);
  if (words[at + 1] === 'between' && words[at + 3] === 'and' && from && to && Number(from) <= Number(to))
    return { term: plainTerm(`score:${from}..${to}`), length: 5 };
  let comparison = '';
  for (let next = at + 1; next - at <= MAX_FILLERS; next += 1) {
    const word = words[next] ?? '';
    if (/^\d{1,3}$/.test(word)) {
      if (!hasScores(comparison, Number(word))) return undefined;
      return { term: plainTerm(`score:${comparison}${word}`), length: next + 1 - at };
    }
    if (!Object.hasOwn(COMPARISONS, word) && !['of', 'at', 'than', 'is'].includes(word)) return undefined;
    comparison = COMPARISONS[word] ?? comparison;
  }
  return undefined;
}

/** The service refuses a comparison that no score fits. */
const hasScores = (comparison: string, score: number): boolean =>
  score <= 100 && !(comparison === '<' && score === 0) && !(comparison === '>' && score === 100);

/** Other roles have the names of categories. */
const SIDE_ROLES: readonly (readonly [readonly string[], string])[] = [
  ...ROLE_LIST.filter((role) => !Object.values<string>(ROLES).includes(role)).map(
    (role) => [ROLE_FACTS[role].label.toLowerCase().split(' '), role] as const,
  ),
  ...[
    'bot protection=bot_protection',
    'captcha=bot_protection',
    'help center=help_centre',
    'help desk=help_centre',
    'status pages=status_page',
    'sign-in=identity',
    'ddos protection=protection',
  ].map((each) => {
    const [name = '', role = ''] = each.split('=');
    return [name.split(' '), role] as const;
  }),
];

function roleAt(words: readonly string[], at: number): Found | undefined {
  const found = SIDE_ROLES.find(([name]) => name.every((word, offset) => words[at + offset] === word));
  return found && { term: plainTerm(`role:${found[1]}`), length: found[0].length };
}

/** `in Germany`, `France` after it */
function inCountryAt(words: readonly string[], raw: readonly string[], at: number): Found | undefined {
  const found = countryAt(words, raw, at);
  return found && { term: plainTerm(`country:${found.code}`), length: found.length };
}

/** `German companies`, `German and French retailers`, `UK banks`: before the word for the set. */
function nationAt(words: readonly string[], raw: readonly string[], at: number): Found | undefined {
  const code = nationOf(words[at] ?? '', raw[at] ?? '');
  let next = at + 1;
  while (['and', 'or'].includes(words[next] ?? '') || isNation(words[next] ?? '')) next += 1;
  const isOfSet = [words[next] ?? '', words[next + 1] ?? ''].some((word) => SET_NOUNS.has(word) || WORDS.has(word));
  return code !== undefined && isOfSet ? { term: plainTerm(`country:${code}`), length: 1 } : undefined;
}

/** `hosted in Germany`: of the network alone. */
function hostedAt(words: readonly string[], raw: readonly string[], at: number): Found | undefined {
  const found = words[at] === 'hosted' && words[at + 1] === 'in' ? countryAt(words, raw, at + 2) : undefined;
  return found && { term: plainTerm(`network_country:${found.code}`), length: found.length + 2 };
}

const SECTOR_WORDS: readonly (readonly [words: string, sector: (typeof SECTORS)[number]])[] = [
  ['agriculture farming mining', 'agriculture_mining'],
  ['nonprofit nonprofits non-profit non-profits charity charities', 'community_nonprofit'],
  ['construction', 'construction_real_estate'],
  ['education universities university schools research', 'education_research'],
  ['finance financial insurance insurers bank banks banking', 'finance_insurance'],
  ['freight logistics postal shipping', 'freight_postal'],
  ['government governments', 'government'],
  ['health healthcare hospitals', 'health'],
  ['manufacturing manufacturers', 'manufacturing'],
  ['media publishers', 'media'],
  ['museums libraries entertainment', 'museums_libraries_entertainment'],
  ['retail retailers retailer shops e-commerce ecommerce', 'retail_ecommerce'],
  ['travel tourism hotels', 'travel'],
  ['utilities energy', 'utilities'],
];

const WORDS: ReadonlyMap<string, Term> = new Map([
  ...SECTOR_WORDS.flatMap(([words, sector]) =>
    words.split(' ').map((word) => [word, plainTerm(`sector:${sector}`)] as const),
  ),
  ...['parked', 'active'].map((state) => [state, plainTerm(`state:${state}`)] as const),
]);

function wordAt(word: string): Found | undefined {
  const term = WORDS.get(word);
  return term && { term, length: 1 };
}

/** `software companies`: as other words, these name no sector. */
const softwareAt = (words: readonly string[], at: number): Found | undefined =>
  /^(?:software|tech|technology|saas)$/.test(words[at] ?? '') && SET_NOUNS.has(words[at + 1] ?? '')
    ? { term: plainTerm('sector:computer_it'), length: 1 }
    : undefined;

export const categoryTerm = (category: Category): Term => plainTerm(`category:${category}`);
export const tldTerm = (label: string): Term => plainTerm(`tld:${label}`);

const listOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

export const NEGATIONS = listOf(
  "not no without except excluding lack lacks lacking missing neither never don't doesn't isn't aren't haven't hasn't",
);
/** Begin a new condition, to which an earlier NOT does not apply. */
export const BREAKS = listOf(
  'but use uses using used have has had run runs host hosts with in among that who which also at under',
);
/** A question for a set of domains has one of these. */
export const SET_NOUNS = listOf(
  'domain domains site sites website websites company companies firm firms business businesses customer customers ' +
    'organisation organisations organization organizations prospects clients retailers retailer bank banks insurers hospitals universities ' +
    'manufacturers charities nonprofits shops hotels',
);
const SUPERLATIVES = listOf('most popular biggest largest leading top main common dominant used');

/** Before a category: `which`, `the most popular`. */
export function asksForMarket(words: readonly string[], at: number): boolean {
  const before = words[at - 1] ?? '';
  return SUPERLATIVES.has(before) || /^\d+$/.test(before) || before === 'which' || before === 'what';
}

/** Between a population and what is asked about it. */
export const MAIN_VERBS = listOf('use uses have has had is are run runs publish publishes enforce enforces');
export const USE_VERBS = listOf('use uses using used have has run runs');
/** Between a category and the name of its provider: `DNS at Cloudflare`, `Cloudflare for DNS`. */
export const CATEGORY_LINKS = listOf('at by from on with via for as provider a an its their the');
/** Times and orders, which the chat cannot read as conditions. */
export const UNREAD_WORDS = listOf(
  'today yesterday hour hours week weeks month months year years day days january february march april june july august september ' +
    'october november december q1 q2 q3 q4 monday tuesday wednesday thursday friday saturday sunday recently recent latest ' +
    'last newest only solely exclusively same country countries',
);
/** Lists of changes begin with the newest anyway. */
export const VAGUE_WORDS = listOf('recently recent latest last newest');

/** Ends a name. */
export const isEnd = (word: string): boolean =>
  isOtherWord(word) ||
  topicOf(word) !== undefined ||
  NEGATIONS.has(word) ||
  BREAKS.has(word) ||
  SET_NOUNS.has(word) ||
  word === 'nor' ||
  word === '&';

/** The spread of this standard has an answer of its own. */
export const isSpreadTerm = ({ yes }: Term): boolean => yes === 'dmarc:valid';

/** `top 5` */
export const isRank = (words: readonly string[], at: number): boolean =>
  /^\d+$/.test(words[at] ?? '') &&
  (['top', 'first', 'list', 'show', 'find'].includes(words[at - 1] ?? '') ||
    ['lowest', 'highest', 'worst', 'best', 'largest', 'biggest'].includes(words[at + 1] ?? ''));

const VERSION = /^\d+(?:\.\d+)*$/;
const VERSION_ORDERS: Readonly<Record<string, string>> = {
  ...{ older: '<', earlier: '<', lower: '<', below: '<', before: '<', under: '<' },
  ...{ newer: '>', later: '>', higher: '>', above: '>', after: '>' },
};

/** After a name: `older than 1.26`, `below version 3`, `1.18`, `version 7` */
export function versionAt(words: readonly string[], at: number) {
  let end = at;
  let order = '=';
  for (; !VERSION.test(words[end] ?? ''); end += 1) {
    const word = words[end] ?? '';
    if (Object.hasOwn(VERSION_ORDERS, word)) order = VERSION_ORDERS[word] ?? order;
    else if (!['version', 'versions', 'than'].includes(word)) return undefined;
  }
  const version = words[end] ?? '';
  // `nginx 3` is a name.
  return end === at && !version.includes('.') ? undefined : { version: `${order}${version}`, length: end + 1 - at };
}
