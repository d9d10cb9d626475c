// How a probe queries DNS: each question once, without DNSSEC validation below a domain whose signatures are broken.
import { isPrivateName, isWithin, type Lookup } from '@strata/detect';
import { noRecords } from './message/answer.ts';
import type { RecordOf, RecordType } from './message/records.ts';
import type { Resolver } from './resolver.ts';

export type Ask = <Type extends RecordType>(name: string, type: Type) => Promise<Lookup<RecordOf[Type]>>;

export interface AskOptions {
  /** Names at and below this one are queried without DNSSEC validation (CD bit). */
  readonly uncheckedBelow?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Queries `resolver` once for each question: the parts of a probe share an answer even if its TTL forbids caching. Names of
 * private networks do not exist, as in the public DNS: a domain that points at one must not reveal what our resolver knows.
 */
export function askOnce(resolver: Resolver, { uncheckedBelow, signal }: AskOptions): Ask {
  const asked = new Map<string, Promise<Lookup<unknown>>>();
  return <Type extends RecordType>(name: string, type: Type) => {
    const key = `${type} ${name}`;
    let answer = asked.get(key);
    if (answer === undefined) {
      const isUnchecked = uncheckedBelow !== undefined && isWithin(name, uncheckedBelow);
      answer = isPrivateName(name.toLowerCase())
        ? Promise.resolve(privateName())
        : resolver.query(name, type, { signal, isUnchecked }).then(hidePrivateNames);
      asked.set(key, answer);
    }
    // Holds because the key names the type of the records.
    return answer as Promise<Lookup<RecordOf[Type]>>;
  };
}

/** The answer as the public sees it: a CNAME chain that enters a private network ends at that link. */
export function hidePrivateNames<T>(lookup: Lookup<T>): Lookup<T> {
  const link = lookup.aliases.findIndex(isPrivateName);
  return link < 0 ? lookup : privateName(lookup.aliases.slice(0, link + 1));
}

function privateName<T>(aliases: readonly string[] = []): Lookup<T> {
  return noRecords('nxdomain', 'a name of private networks', aliases);
}

/**
 * `ask`, unless the zone does not respond: after time-outs or SERVFAIL for NS, A and MX, forty more questions would end the same
 * way, and each would hold a slot at the resolver until its last retry. DS is in the parent zone (RFC 4035 §3.1.4.1): a resolver
 * that answers SERVFAIL is asked for it.
 */
export async function skipIfUnresponsive(ask: Ask, domain: string, ns: Lookup<string>): Promise<Ask> {
  if (!isUnanswered(ns)) return ask;
  const followUps = await Promise.all([ask(domain, 'A'), ask(domain, 'MX')]);
  if (!followUps.every(isUnanswered)) return ask;
  const unanswered = noRecords<never>(ns.status, 'not queried: the zone does not respond');
  const isSkipped = (name: string, type: RecordType) =>
    isWithin(name, domain) && (ns.status === 'timeout' || type !== 'DS');
  return async (name, type) => (isSkipped(name, type) ? unanswered : ask(name, type));
}

function isUnanswered({ status }: Lookup<unknown>): boolean {
  return status === 'timeout' || status === 'servfail';
}

/** Characters kept of one name's TXT records: several times the length of the longest legitimate key or policy. */
const MAX_TEXT_CHARACTERS = 8_192;

/** The TXT records up to a limit that no legitimate name below a domain reaches; `detail` reports a cut. */
export function cutTexts(lookup: Lookup<string>): Lookup<string> {
  let left = MAX_TEXT_CHARACTERS;
  const records: string[] = [];
  for (const record of lookup.records) {
    if (left === 0) break;
    records.push(record.slice(0, left));
    left -= records.at(-1)?.length ?? 0;
  }
  const isComplete = records.length === lookup.records.length && records.at(-1) === lookup.records.at(-1);
  return isComplete ? lookup : { ...lookup, records, detail: `cut after ${MAX_TEXT_CHARACTERS} characters of text` };
}
