// DNS messages in and out: dns-packet does the bytes (RFC 1035), this decides what an answer amounts to.
import type { CaaRecord, DsRecord, Lookup, LookupStatus, MxRecord, SoaRecord } from '@strata/detect';
import packet from 'dns-packet';

/** What each question's records look like. Names are lower-case without trailing dot. */
export interface RecordOf {
  A: string;
  AAAA: string;
  NS: string;
  TXT: string;
  MX: MxRecord;
  SOA: SoaRecord;
  CAA: CaaRecord;
  DS: DsRecord;
}
export type RecordType = keyof RecordOf;

/** EDNS0 payload that passes everywhere without fragments (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1_232;
/** Records kept of one answer; some zones hold thousands of TXT records. */
const MAX_RECORDS = 500;
/** Characters kept of one TXT record: the largest that a message can hold. */
const MAX_TEXT_LENGTH = 65_535;
/** CNAME links followed; longer chains are loops or mistakes. */
const MAX_ALIASES = 16;

export function encodeQuery(id: number, name: string, type: RecordType): Buffer {
  return packet.encode({
    type: 'query',
    id,
    flags: packet.RECURSION_DESIRED,
    questions: [{ type, name, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_PAYLOAD_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  });
}

/** A message that answers the question it was sent for. */
export interface Answer {
  readonly isTruncated: boolean;
  readonly rcode: string;
  readonly answers: readonly packet.Answer[];
  readonly authorities: readonly packet.Answer[];
}

/** Decodes an answer to `name`/`type`; undefined for anything else, however broken. */
export function decodeAnswer(message: Buffer, name: string, type: RecordType): Answer | undefined {
  try {
    const decoded = packet.decode(message);
    const [question, ...more] = decoded.questions ?? [];
    if (decoded.type !== 'response' || !question || more.length > 0) return undefined;
    if (question.type !== type || normalise(question.name) !== name) return undefined;
    const { rcode, flag_tc } = decoded as unknown as { rcode: string; flag_tc: boolean };
    return {
      isTruncated: flag_tc,
      rcode,
      answers: decoded.answers ?? [],
      authorities: decoded.authorities ?? [],
    };
  } catch {
    return undefined;
  }
}

export interface Interpretation<T> {
  readonly lookup: Lookup<T>;
  /** How long it may be kept: the least TTL on the way, or the negative TTL (RFC 2308). */
  readonly ttlSeconds: number;
  /** The name to go on with, when the server left a CNAME chain unfinished. */
  readonly unfinished?: string;
}

/** Reads an answer: the CNAME chain, the records at its end, and what silence means. */
export function interpret<Type extends RecordType>(
  answer: Answer,
  name: string,
  type: Type,
): Interpretation<RecordOf[Type]> {
  const { aliases, end, ttls, problem } = followAliases(answer, name);
  if (problem) return { lookup: none('malformed', aliases, problem), ttlSeconds: 0 };
  const status = FAILURES[answer.rcode];
  if (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN') {
    return { lookup: none(status ?? 'servfail', aliases, answer.rcode), ttlSeconds: 0 };
  }

  const records: RecordOf[Type][] = [];
  let isCut = false;
  for (const record of answer.answers) {
    if (record.type !== type || normalise(record.name) !== end) continue;
    if (records.length >= MAX_RECORDS) isCut = true;
    else {
      const read = READERS[type](record);
      if (read === undefined) continue;
      records.push(read as RecordOf[Type]);
      ttls.push(ttlOf(record));
    }
  }
  if (records.length > 0) {
    const found: Lookup<RecordOf[Type]> = { status: 'found', records, aliases };
    const lookup = isCut ? { ...found, detail: `only the first ${MAX_RECORDS} records were kept` } : found;
    return { lookup, ttlSeconds: Math.min(...ttls) };
  }
  const soa = answer.authorities.find((record) => record.type === 'SOA');
  const ttlSeconds = Math.min(...ttls, soa ? negativeTtl(soa) : 0);
  if (answer.rcode === 'NXDOMAIN') return { lookup: none('nxdomain', aliases), ttlSeconds };
  // A chain that just stops, without the SOA that would say "nothing there", was not followed by the server.
  const isUnfinished = aliases.length > 0 && !soa;
  return { lookup: none('empty', aliases), ttlSeconds, ...(isUnfinished ? { unfinished: end } : {}) };
}

export function none<T>(status: LookupStatus, aliases: readonly string[] = [], detail?: string): Lookup<T> {
  return { status, records: [], aliases, ...(detail === undefined ? {} : { detail }) };
}

const FAILURES: Readonly<Record<string, LookupStatus>> = {
  SERVFAIL: 'servfail',
  REFUSED: 'refused',
  FORMERR: 'malformed',
  NOTIMP: 'refused',
};

function followAliases(answer: Answer, name: string) {
  const targets = new Map<string, { target: string; ttl: number }>();
  for (const record of answer.answers) {
    if (record.type !== 'CNAME' || typeof record.data !== 'string') continue;
    targets.set(normalise(record.name), { target: normalise(record.data), ttl: ttlOf(record) });
  }
  const aliases: string[] = [];
  const ttls: number[] = [MAX_TTL_SECONDS];
  const visited = new Set([name]);
  let end = name;
  for (let next = targets.get(end); next; next = targets.get(end)) {
    end = next.target;
    if (visited.has(end)) return { aliases, end, ttls, problem: 'the CNAME chain is a loop' };
    if (aliases.length >= MAX_ALIASES) return { aliases, end, ttls, problem: 'the CNAME chain is too long' };
    visited.add(end);
    aliases.push(end);
    ttls.push(next.ttl);
  }
  return { aliases, end, ttls, problem: undefined };
}

/** A day: what a server says beyond that is not believed. */
export const MAX_TTL_SECONDS = 86_400;

function ttlOf(record: packet.Answer): number {
  const ttl = 'ttl' in record && typeof record.ttl === 'number' ? record.ttl : 0;
  // RFC 2181 section 8: a TTL with the top bit set counts as zero.
  return ttl > 0x7fff_ffff ? 0 : ttl;
}

function negativeTtl(record: packet.Answer): number {
  const minimum = record.type === 'SOA' ? (record.data.minimum ?? 0) : 0;
  return Math.min(ttlOf(record), minimum, 3_600);
}

export function normalise(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Readers give undefined for data that does not have its type's form; one bad record does not spoil the others. */
const READERS: { readonly [Type in RecordType]: (record: packet.Answer) => RecordOf[Type] | undefined } = {
  A: (record) => (record.type === 'A' ? record.data : undefined),
  AAAA: (record) => (record.type === 'AAAA' ? record.data.toLowerCase() : undefined),
  NS: (record) => (record.type === 'NS' ? normalise(record.data) : undefined),
  MX: (record) =>
    record.type === 'MX'
      ? { preference: record.data.preference ?? 0, exchange: normalise(record.data.exchange) }
      : undefined,
  TXT: (record) => (record.type === 'TXT' ? textOf(record.data).slice(0, MAX_TEXT_LENGTH) : undefined),
  SOA: (record) =>
    record.type === 'SOA'
      ? { mname: normalise(record.data.mname), rname: normalise(record.data.rname), serial: record.data.serial ?? 0 }
      : undefined,
  CAA: (record) =>
    record.type === 'CAA'
      ? { critical: (record.data.flags ?? 0) >= 128, tag: record.data.tag.toLowerCase(), value: record.data.value }
      : undefined,
  DS: (record) =>
    record.type === 'DS'
      ? {
          keyTag: record.data.keyTag,
          algorithm: record.data.algorithm,
          digestType: record.data.digestType,
          digest: record.data.digest.toString('hex'),
        }
      : undefined,
};

/** RFC 7208 section 3.3: the strings of one record are joined without blanks. Broken UTF-8 becomes U+FFFD. */
function textOf(data: packet.TxtData): string {
  if (typeof data === 'string') return data;
  if (Array.isArray(data)) return Buffer.concat(data.map((part) => Buffer.from(part as Buffer))).toString('utf8');
  return data.toString('utf8');
}
