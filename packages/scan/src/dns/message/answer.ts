// The meaning of an answer: the CNAME chain, the records at its end, and negative answers (RFC 1034 §4.3.2, RFC 2308).
import type { Lookup, LookupStatus } from '@strata/detect';
import { type Message, type RawRecord, RCODE } from './message.ts';
import { Malformed } from './message-reader.ts';
import { type RecordOf, type RecordType, readData, readSoaMinimum, TYPE_CODES } from './records.ts';

/** CNAME links followed; longer chains are loops or errors. */
export const MAX_ALIASES = 16;
/** Records kept of one answer; some zones hold thousands. */
const MAX_RECORDS = 500;
/** RFC 2308 §5 limits negative answers to three hours; one hour suffices here. */
const MAX_NEGATIVE_TTL_SECONDS = 3_600;
const CNAME_CODE = TYPE_CODES.CNAME;

/** A lookup, and whether it was validated. */
export interface Answer<T> {
  readonly lookup: Lookup<T>;
  /** The server validated all of it (AD, RFC 4035 §3.2.3). */
  readonly isAuthentic: boolean;
}

export interface Reading<T> extends Answer<T> {
  /** The smallest TTL of the chain; 0 for failures. */
  readonly ttlSeconds: number;
  /** The alias to query next: the server did not follow the chain to its end. */
  readonly unfinished: string | null;
  /** All records have other names, as in forged answers: a retry at the same server may succeed. */
  readonly isOtherName?: true;
}

/** A lookup without records. */
export function noRecords<T>(status: LookupStatus, detail?: string, aliases: readonly string[] = []): Lookup<T> {
  return detail === undefined ? { status, records: [], aliases } : { status, records: [], aliases, detail };
}

export function failed<T>(status: LookupStatus, detail: string, aliases: readonly string[] = []): Reading<T> {
  return { lookup: noRecords(status, detail, aliases), ttlSeconds: 0, isAuthentic: false, unfinished: null };
}

/** Reads the answer to `name` and `type`; every fault in it becomes the status `malformed`. */
export function readAnswer<Type extends RecordType>(
  message: Message,
  name: string,
  type: Type,
): Reading<RecordOf[Type]> {
  const { rcode } = message;
  if (rcode === RCODE.refused) return failed('refused', 'REFUSED');
  if (rcode === RCODE.serverFailure) return failed('servfail', 'SERVFAIL');
  if (rcode !== RCODE.noError && rcode !== RCODE.nameError) return failed('servfail', `response code ${rcode}`);
  try {
    return readChain(message, name, type);
  } catch (error) {
    if (error instanceof RangeError || error instanceof Malformed) return failed('malformed', error.message);
    // dns-packet throws plain errors for data that it cannot read.
    return failed('malformed', 'record data cannot be read');
  }
}

function readChain<Type extends RecordType>(message: Message, name: string, type: Type): Reading<RecordOf[Type]> {
  const chain = type === 'CNAME' ? { end: name, aliases: [], ttlSeconds: Infinity } : followAliases(message, name);
  const { end, aliases } = chain;
  const { isAuthentic } = message;
  const code = TYPE_CODES[type];
  const isOwned = (record: RawRecord) => record.code === code && record.name === end;
  // In most answers all records match.
  const owned = message.answers.every(isOwned) ? message.answers : message.answers.filter(isOwned);
  if (owned.length > 0) {
    let { ttlSeconds } = chain;
    for (const record of owned) ttlSeconds = Math.min(ttlSeconds, record.ttlSeconds);
    return { lookup: readRecords(message, owned, type, aliases), ttlSeconds, isAuthentic, unfinished: null };
  }
  if (aliases.length === 0 && message.answers.length > 0) {
    // RFC 2181 §5.4.1: records of other names must not be used, and without other records there is no answer.
    return { ...failed('malformed', 'the answer is for another name'), isOtherName: true };
  }
  const ttlSeconds = Math.min(chain.ttlSeconds, negativeTtlOf(message));
  if (message.rcode === RCODE.nameError) {
    return { lookup: noRecords('nxdomain', undefined, aliases), ttlSeconds, isAuthentic, unfinished: null };
  }
  // A chain that ends without an SOA record was not followed to its end by the server.
  const unfinished = aliases.length > 0 && message.authority === null ? end : null;
  return { lookup: noRecords('empty', undefined, aliases), ttlSeconds, isAuthentic, unfinished };
}

function followAliases(message: Message, name: string) {
  const aliases: string[] = [];
  let end = name;
  let ttlSeconds = Infinity;
  for (;;) {
    const link = message.answers.find((record) => record.code === CNAME_CODE && record.name === end);
    if (link === undefined) return { end, aliases, ttlSeconds };
    end = readData(message.bytes, link.start, 'CNAME');
    ttlSeconds = Math.min(ttlSeconds, link.ttlSeconds);
    if (end === name || aliases.includes(end)) throw new Malformed('the CNAME chain is a loop');
    if (aliases.length === MAX_ALIASES) throw new Malformed(`the CNAME chain has more than ${MAX_ALIASES} links`);
    aliases.push(end);
  }
}

function readRecords<Type extends RecordType>(
  message: Message,
  owned: readonly RawRecord[],
  type: Type,
  aliases: readonly string[],
): Lookup<RecordOf[Type]> {
  const kept = owned.length > MAX_RECORDS ? owned.slice(0, MAX_RECORDS) : owned;
  const records = kept.map(({ start }) => readData(message.bytes, start, type));
  if (kept === owned) return { status: 'found', records, aliases };
  return { status: 'found', records, aliases, detail: `only ${MAX_RECORDS} of ${owned.length} records were kept` };
}

function negativeTtlOf({ bytes, authority }: Message): number {
  if (authority === null) return 0;
  return Math.min(authority.ttlSeconds, readSoaMinimum(bytes, authority.start), MAX_NEGATIVE_TTL_SECONDS);
}
