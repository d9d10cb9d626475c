// DNS messages: encodes the query, and splits the answer into its records (RFC 1035, RFC 6891).
import { Malformed, MessageReader } from './message-reader.ts';
import { type RecordType, TYPE_CODES } from './records.ts';

const HEADER_BYTES = 12;
/** Our OPT record without options: root name, type, class, TTL and length. */
const OPT_BYTES = 11;
/** Avoids fragmentation (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1_232;
const RECURSION_DESIRED = 0x01;
/** Flags of the fourth header byte (RFC 4035 §3.2). In a query, `AD` requests the validation result and `CD` disables validation. */
const AUTHENTIC_DATA = 0x20;
const CHECKING_DISABLED = 0x10;
const DOT = 0x2e;
const BACKSLASH = 0x5c;
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
const IN_CLASS = 1;
const CNAME_CODE = 5;
const SOA_CODE = 6;

export const RCODE = { noError: 0, formatError: 1, serverFailure: 2, nameError: 3, refused: 5 } as const;

/** A record with unread data; `start` is the offset of its two length bytes. */
export interface RawRecord {
  readonly name: string;
  readonly code: number;
  readonly ttlSeconds: number;
  readonly start: number;
}

export interface Message {
  readonly bytes: Buffer;
  readonly rcode: number;
  /** The server validated all of it (AD, RFC 4035 §3.2.3). */
  readonly isAuthentic: boolean;
  /** Records of the queried type and CNAMEs, in order. */
  readonly answers: readonly RawRecord[];
  /** The SOA of the authority section: it confirms a negative answer and gives its TTL (RFC 2308). */
  readonly authority: RawRecord | null;
}

/** The EDNS0 record of a query (RFC 6891 §6.1.2): root name, type 41, our payload size, no options. */
const OPT = Buffer.from([0, 0, 41, UDP_PAYLOAD_BYTES >> 8, UDP_PAYLOAD_BYTES & 0xff, 0, 0, 0, 0, 0, 0]);

/** The header of a query without id and flags: one question. */
const HEAD = Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

/**
 * A recursive query; its id is zero until `stampId`. The name must satisfy `isAskable`. The AD bit requests the validation result
 * (RFC 6840 §5.7) without the signatures that DO would add; the CD bit disables validation. `hasEdns: false` is for servers that
 * answered FORMERR to EDNS0 (RFC 6891 §7), and sets neither bit.
 */
export function encodeQuery(name: string, type: RecordType, { hasEdns = true, isUnchecked = false } = {}): Buffer {
  const nameEnd = HEADER_BYTES + name.length + 2;
  const end = nameEnd + 4;
  // Node's pool is not cleared: every byte is written below.
  const query = Buffer.allocUnsafe(hasEdns ? end + OPT_BYTES : end);
  query.set(HEAD);
  query[2] = RECURSION_DESIRED;
  if (hasEdns) query[3] = isUnchecked ? CHECKING_DISABLED : AUTHENTIC_DATA;
  // The length of the next label replaces each dot; the name is ASCII without empty labels.
  let start = HEADER_BYTES;
  for (let i = 0; i < name.length; i++) {
    const at = HEADER_BYTES + 1 + i;
    const code = name.charCodeAt(i);
    query[at] = code;
    if (code !== DOT) continue;
    query[start] = at - start - 1;
    start = at;
  }
  query[start] = nameEnd - start - 2;
  query[nameEnd - 1] = 0;
  query[nameEnd] = TYPE_CODES[type] >> 8;
  query[nameEnd + 1] = TYPE_CODES[type] & 0xff;
  query[nameEnd + 2] = 0;
  query[nameEnd + 3] = IN_CLASS;
  if (hasEdns) {
    query[11] = 1;
    query.set(OPT, end);
  }
  return query;
}

/** The end of the question of one of our queries: everything before the OPT record. */
function questionEnd(query: Buffer): number {
  return query[11] === 1 ? query.length - OPT_BYTES : query.length;
}

export function stampId(query: Buffer, id: number): void {
  query[0] = id >> 8;
  query[1] = id & 0xff;
}

/** RFC 1035 §2.3.4, in printable ASCII without escapes. */
export function isAskable(name: string): boolean {
  const { length } = name;
  if (length === 0 || length > MAX_NAME_LENGTH) return false;
  let labelStart = 0;
  for (let i = 0; i <= length; i++) {
    const code = i === length ? DOT : name.charCodeAt(i);
    if (code === DOT) {
      if (i === labelStart || i - labelStart > MAX_LABEL_LENGTH) return false;
      labelStart = i + 1;
    } else if (code < 0x21 || code > 0x7e || code === BACKSLASH) return false;
  }
  return true;
}

/**
 * Whether a message answers this query (RFC 5452 §4): a response with our id that repeats our question, ignoring case. A server
 * that could not parse the question may omit it, but only to report an error.
 */
export function answersQuery(bytes: Buffer, query: Buffer): boolean {
  if (bytes.length < HEADER_BYTES || bytes[0] !== query[0] || bytes[1] !== query[1]) return false;
  if (((bytes[2] ?? 0) & 0xf8) !== 0x80) return false;
  const questions = ((bytes[4] ?? 0) << 8) | (bytes[5] ?? 0);
  if (questions === 0) return bytes.length < HEADER_BYTES + OPT_BYTES + 1 && rcodeOf(bytes) !== RCODE.noError;
  const end = questionEnd(query);
  if (questions !== 1 || bytes.length < end) return false;
  for (let i = HEADER_BYTES; i < end; i++) {
    const theirs = bytes[i] ?? 0;
    const ours = query[i] ?? 0;
    if (theirs === ours) continue;
    // The only permitted difference is an upper-case letter: queries are sent in lower case.
    if ((theirs | 0x20) !== ours || ours < 0x61 || ours > 0x7a) return false;
  }
  return true;
}

export function isTruncated(bytes: Buffer): boolean {
  return ((bytes[2] ?? 0) & 0x02) !== 0;
}

function isAuthentic(bytes: Buffer): boolean {
  return ((bytes[3] ?? 0) & AUTHENTIC_DATA) !== 0;
}

export function rcodeOf(bytes: Buffer): number {
  return (bytes[3] ?? 0) & 0x0f;
}

/** The question of a query: the name as passed to `encodeQuery`, in lower case. */
export interface Question {
  readonly name: string;
  readonly type: RecordType;
}

/** A reader positioned behind the question. The question's name equals that of the query and is not decoded again. */
function readerOf(bytes: Buffer, query: Buffer, { name }: Question): MessageReader {
  if (bytes[5] !== 1) return new MessageReader(bytes, HEADER_BYTES);
  return new MessageReader(bytes, questionEnd(query), { start: HEADER_BYTES, name });
}

/**
 * Splits an answer that `answersQuery` accepted.
 * @throws Malformed if counts, lengths or names are inconsistent.
 */
export function readMessage(bytes: Buffer, query: Buffer, question: Question): Message {
  const wanted = TYPE_CODES[question.type];
  const reader = readerOf(bytes, query, question);
  const answerCount = bytes.readUInt16BE(6);
  const authorityCount = bytes.readUInt16BE(8);
  const answers: RawRecord[] = [];
  let authority: RawRecord | null = null;
  // Each record has at least eleven bytes, so the length of the message bounds both loops.
  for (let i = 0; i < answerCount; i++) {
    const record = readRecord(reader);
    if (record !== null && (record.code === wanted || record.code === CNAME_CODE)) answers.push(record);
  }
  for (let i = 0; i < authorityCount; i++) {
    const record = readRecord(reader);
    if (record?.code === SOA_CODE) authority ??= record;
  }
  return { bytes, rcode: rcodeOf(bytes), isAuthentic: isAuthentic(bytes), answers, authority };
}

/** Null for a class other than IN. */
function readRecord(reader: MessageReader): RawRecord | null {
  const name = reader.name();
  const code = reader.u16();
  const isInternet = reader.u16() === IN_CLASS;
  const ttl = reader.u32();
  const start = reader.offset;
  const length = reader.u16();
  if (start + 2 + length > reader.bytes.length) throw new Malformed('record data runs past the end');
  reader.skip(length);
  // RFC 2181 §8: a TTL with the top bit set is treated as zero.
  return isInternet ? { name, code, ttlSeconds: ttl > 0x7fff_ffff ? 0 : ttl, start } : null;
}
