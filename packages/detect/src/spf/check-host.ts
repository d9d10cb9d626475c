// check_host() of RFC 7208 §4: what SPF says of one sender, from answers that the caller has. No I/O, no clock.
import { isMeasured, type Lookup, type MxRecord } from '../evidence/evidence.ts';
import { isWithin } from '../names/names.ts';
import { dotted, type IpAddress, isInNetwork, parseAddress, readable, reverseName, unmapped } from './address.ts';
import { expand, expandDomain, type MacroValues, parseExplanation } from './macro.ts';
import { type DomainSpec, type Mechanism, parseRecord, type Qualifier, selectRecords } from './record.ts';

export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror';

/** Answers by lower-case name without trailing dot. What was not measured is a temporary error. */
export interface SpfLookups {
  readonly txt: (name: string) => Lookup<string>;
  readonly a: (name: string) => Lookup<string>;
  readonly aaaa: (name: string) => Lookup<string>;
  readonly mx: (name: string) => Lookup<MxRecord>;
  readonly ptr: (name: string) => Lookup<string>;
}

export interface SpfQuestion {
  readonly ip: string;
  readonly domain: string;
  /** MAIL FROM or HELO identity. */
  readonly sender: string;
  readonly helo?: string;
  /** For explanations only: who checks, and when in seconds since the epoch. */
  readonly receiver?: string;
  readonly at?: number;
}

export interface SpfVerdict {
  readonly result: SpfResult;
  /** What the domain's owner tells a refused sender (§6.2), null where that is nothing or cannot be had. */
  readonly explanation: string | null;
}

/** §4.6.4: terms that cause look-ups, void look-ups, and exchanges or names of one term. */
export const MAX_LOOKUPS = 10;
export const MAX_VOIDS = 2;
export const MAX_HOSTS = 10;

const BY_QUALIFIER: Readonly<Record<Qualifier, SpfResult>> = {
  '+': 'pass',
  '-': 'fail',
  '~': 'softfail',
  '?': 'neutral',
};
const ERROR = {
  temp: { result: 'temperror', explanation: null },
  perm: { result: 'permerror', explanation: null },
} as const;

type Match = boolean | 'temperror' | 'permerror';

/** One check's state: the limits hold over all records that it reads. */
interface Check {
  readonly question: SpfQuestion;
  readonly ip: IpAddress;
  readonly lookups: SpfLookups;
  terms: number;
  voids: number;
}

/** Evaluates the policy of `domain` for a sender. Throws RangeError where `ip` is no address. */
export function checkHost(question: SpfQuestion, lookups: SpfLookups): SpfVerdict {
  const ip = parseAddress(question.ip);
  if (!ip) throw new RangeError(`'${question.ip}' is no IP address`);
  return evaluate({ question, ip: unmapped(ip), lookups, terms: 0, voids: 0 }, nameOf(question.domain), {
    isInitial: true,
  });
}

interface EvaluateOptions {
  /** Not the policy of an `include:`, whose explanation is not used (§6.2) and whose void answer counts (§4.6.4). */
  readonly isInitial: boolean;
}

function evaluate(check: Check, domain: string, options: EvaluateOptions): SpfVerdict {
  if (!isCheckable(domain)) return { result: 'none', explanation: null };
  const answer = check.lookups.txt(domain);
  if (!isMeasured(answer.status)) return ERROR.temp;
  if (!options.isInitial && isOverVoids(check, answer)) return ERROR.perm;
  const [record, ...others] = selectRecords(answer.records);
  if (record === undefined) return { result: 'none', explanation: null };
  const { mechanisms, redirect, explanation, errors } = parseRecord(record);
  if (others.length > 0 || errors.length > 0) return ERROR.perm;
  for (const mechanism of mechanisms) {
    const match = matches(check, mechanism, domain);
    if (typeof match === 'string') return match === 'temperror' ? ERROR.temp : ERROR.perm;
    if (!match) continue;
    const result = BY_QUALIFIER[mechanism.qualifier];
    const isExplained = result === 'fail' && options.isInitial && explanation !== null;
    return { result, explanation: isExplained ? explain(check, explanation, domain) : null };
  }
  if (!redirect) return { result: 'neutral', explanation: null };
  if (++check.terms > MAX_LOOKUPS) return ERROR.perm;
  const verdict = evaluate(check, targetOf(check, redirect, domain), options);
  return verdict.result === 'none' ? ERROR.perm : verdict;
}

function matches(check: Check, mechanism: Mechanism, domain: string): Match {
  switch (mechanism.kind) {
    case 'all':
      return true;
    case 'ip4':
    case 'ip6':
      return isInNetwork(check.ip, mechanism.network);
    default:
      return ++check.terms > MAX_LOOKUPS ? 'permerror' : matchesByLookup(check, mechanism, domain);
  }
}

type Asking = Exclude<Mechanism, { readonly kind: 'all' | 'ip4' | 'ip6' }>;

function matchesByLookup(check: Check, mechanism: Asking, domain: string): Match {
  const { lookups } = check;
  const target = targetOf(check, mechanism.target, domain);
  switch (mechanism.kind) {
    case 'include': {
      // §5.2: only a pass of the other policy matches; a policy that is not there is an error of this one.
      const { result } = evaluate(check, target, { isInitial: false });
      if (result === 'temperror') return result;
      return result === 'none' || result === 'permerror' ? 'permerror' : result === 'pass';
    }
    case 'exists': {
      const answer = lookups.a(target);
      if (!isMeasured(answer.status)) return 'temperror';
      return isOverVoids(check, answer) ? 'permerror' : answer.records.length > 0;
    }
    case 'a': {
      const answer = addresses(check, target);
      if (!isMeasured(answer.status)) return 'temperror';
      return isOverVoids(check, answer) ? 'permerror' : answer.records.some((text) => isNear(check, text, mechanism));
    }
    case 'mx':
      return matchesExchange(check, target, mechanism);
    case 'ptr':
      return validatedNames(check).some((name) => isWithin(name, target));
    default:
      return mechanism satisfies never;
  }
}

function matchesExchange(check: Check, target: string, lengths: Lengths): Match {
  const answer = check.lookups.mx(target);
  if (!isMeasured(answer.status)) return 'temperror';
  if (isOverVoids(check, answer)) return 'permerror';
  for (const [i, { exchange }] of answer.records.entries()) {
    if (i >= MAX_HOSTS) return 'permerror';
    const hosts = addresses(check, nameOf(exchange));
    if (!isMeasured(hosts.status)) return 'temperror';
    if (hosts.records.some((text) => isNear(check, text, lengths))) return true;
  }
  return false;
}

interface Lengths {
  readonly bits4: number;
  readonly bits6: number;
}

function isNear({ ip }: Check, text: string, { bits4, bits6 }: Lengths): boolean {
  const address = parseAddress(text);
  return address !== null && isInNetwork(ip, { ...address, bits: address.version === 4 ? bits4 : bits6 });
}

function addresses({ ip, lookups }: Check, name: string): Lookup<string> {
  return ip.version === 4 ? lookups.a(name) : lookups.aaaa(name);
}

/** §5.5: names of the address that lead back to it; failures and all names after the tenth are passed over. */
function validatedNames(check: Check): string[] {
  const answer = check.lookups.ptr(reverseName(check.ip));
  const names = answer.records.slice(0, MAX_HOSTS).map(nameOf);
  return names.filter((name) => addresses(check, name).records.some((text) => isNear(check, text, WHOLE)));
}

const WHOLE: Lengths = { bits4: 32, bits6: 128 };

/** §6.2: an explanation that cannot be had or read is none; it never changes the result. */
function explain(check: Check, target: DomainSpec, domain: string): string | null {
  const { records } = check.lookups.txt(targetOf(check, target, domain));
  const [text, ...others] = records;
  const parts = text === undefined || others.length > 0 ? null : parseExplanation(text);
  return parts && expand(parts, valuesOf(check, domain));
}

function targetOf(check: Check, target: DomainSpec | null, domain: string): string {
  return target === null ? domain : expandDomain(target.parts, valuesOf(check, domain));
}

function valuesOf(check: Check, domain: string): MacroValues {
  const { sender, helo = '', receiver = 'unknown', at = 0 } = check.question;
  const separator = sender.lastIndexOf('@');
  // §4.3: a sender without a local part is its postmaster.
  const local = separator > 0 ? sender.slice(0, separator) : 'postmaster';
  const host = sender.slice(separator + 1);
  return {
    s: `${local}@${host}`,
    l: local,
    o: host,
    d: domain,
    i: dotted(check.ip),
    v: check.ip.version === 4 ? 'in-addr' : 'ip6',
    h: helo,
    c: readable(check.ip),
    r: receiver,
    t: String(at),
    p: () => bestName(validatedNames(check), domain),
  };
}

/** §7.3: of the names of an address the domain itself, else one below it, else any. */
function bestName(names: readonly string[], domain: string): string {
  const found = names.find((name) => name === domain) ?? names.find((name) => isWithin(name, domain));
  return found ?? names[0] ?? 'unknown';
}

/** §4.3: several labels of 1 to 63 characters; what else there is has no policy. */
function isCheckable(domain: string): boolean {
  const labels = domain.split('.');
  return domain.length <= 253 && labels.length > 1 && labels.every(({ length }) => length > 0 && length < 64);
}

function nameOf(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

/** Counts an answer without records, and says whether it was one too many. */
function isOverVoids(check: Check, { records }: Lookup<unknown>): boolean {
  return records.length === 0 && ++check.voids > MAX_VOIDS;
}
