// How a probe asks: each question once, and below a domain whose signatures are broken without their being checked.
import { isPrivateName, isWithin, type Lookup } from '@strata/detect';
import { without } from './message/answer.ts';
import type { RecordOf, RecordType } from './message/records.ts';
import type { Resolver } from './resolver.ts';

export type Ask = <Type extends RecordType>(name: string, type: Type) => Promise<Lookup<RecordOf[Type]>>;

export interface AskOptions {
  /** Names at and below this one are asked for without a check of signatures. */
  readonly uncheckedBelow?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks `resolver`, each question once: parts of a probe share answers even where a zone allows nobody to keep them. Names of
 * private networks do not exist, as in the public DNS: a domain that points at one must not show what our resolver knows.
 */
export function askOnce(resolver: Resolver, { uncheckedBelow, signal }: AskOptions): Ask {
  const asked = new Map<string, Promise<Lookup<unknown>>>();
  return <Type extends RecordType>(name: string, type: Type) => {
    const key = `${type} ${name}`;
    let answer = asked.get(key);
    if (answer === undefined) {
      const isUnchecked = uncheckedBelow !== undefined && isWithin(name, uncheckedBelow);
      answer = isPrivateName(name.toLowerCase())
        ? Promise.resolve(privately())
        : resolver.query(name, type, { signal, isUnchecked }).then(publicly);
      asked.set(key, answer);
    }
    // Holds because the key names the type of the records.
    return answer as Promise<Lookup<RecordOf[Type]>>;
  };
}

/** What is seen of an answer from outside: of a chain of aliases that enters a private network nothing behind that link. */
export function publicly<T>(lookup: Lookup<T>): Lookup<T> {
  const link = lookup.aliases.findIndex(isPrivateName);
  return link < 0 ? lookup : privately(lookup.aliases.slice(0, link + 1));
}

function privately<T>(aliases: readonly string[] = []): Lookup<T> {
  return without('nxdomain', 'a name of private networks', aliases);
}

/**
 * `ask`, unless the zone is silent: one that answers nothing about its name servers, addresses and exchanges would not
 * answer forty questions more either, each of which holds a place at the resolver until its last try is over.
 */
export async function unlessSilent(ask: Ask, domain: string, ns: Lookup<string>): Promise<Ask> {
  if (ns.status !== 'timeout') return ask;
  const others = await Promise.all([ask(domain, 'A'), ask(domain, 'MX')]);
  if (others.some(({ status }) => status !== 'timeout')) return ask;
  const unasked = without<never>('timeout', 'not asked: the zone is silent');
  return async (name, type) => (isWithin(name, domain) ? unasked : ask(name, type));
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
