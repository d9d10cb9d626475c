// Decodes record data. dns-packet decodes AAAA, CAA and DS; the frequent types are decoded here with fewer allocations.
import type { CaaRecord, DsRecord, MxRecord, SoaRecord } from '@strata/detect';
import dnsPacket from 'dns-packet';
import { Malformed, MessageReader } from './message-reader.ts';

/** The value of a record, by type. Names are lower-case without trailing dot. */
export interface RecordOf {
  readonly A: string;
  readonly AAAA: string;
  readonly NS: string;
  readonly CNAME: string;
  readonly TXT: string;
  readonly MX: MxRecord;
  readonly SOA: SoaRecord;
  readonly CAA: CaaRecord;
  readonly DS: DsRecord;
}
export type RecordType = keyof RecordOf;

export const TYPE_CODES: { readonly [Type in RecordType]: number } = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  CAA: 257,
};

interface Codec<T> {
  /** `offset` refers to the two length bytes. */
  decode(bytes: Buffer, offset: number): T;
}

/** dns-packet exports a codec per type, which its type declarations omit. */
const codecs = dnsPacket as unknown as {
  readonly aaaa: Codec<string>;
  readonly caa: Codec<{ readonly flags: number; readonly tag: string; readonly value: string }>;
  readonly ds: Codec<{ keyTag: number; algorithm: number; digestType: number; digest: Buffer }>;
};

/**
 * Decodes the data of one record; `start` is the offset of its length bytes. The data must be within the message.
 * @throws Malformed if the data has another length than declared.
 */
export function readData<Type extends RecordType>(bytes: Buffer, start: number, type: Type): RecordOf[Type] {
  return READERS[type](bytes, start, bytes.readUInt16BE(start));
}

const READERS: {
  readonly [Type in RecordType]: (bytes: Buffer, start: number, length: number) => RecordOf[Type];
} = {
  A: (bytes, start, length) => {
    expectLength(length === 4);
    return `${bytes[start + 2]}.${bytes[start + 3]}.${bytes[start + 4]}.${bytes[start + 5]}`;
  },
  AAAA: (bytes, start, length) => {
    expectLength(length === 16);
    return codecs.aaaa.decode(bytes, start);
  },
  NS: (bytes, start, length) => readNames(bytes, start, length, (reader) => reader.name()),
  CNAME: (bytes, start, length) => readNames(bytes, start, length, (reader) => reader.name()),
  MX: (bytes, start, length) =>
    readNames(bytes, start, length, (reader) => ({ preference: reader.u16(), exchange: reader.name() })),
  SOA: (bytes, start, length) =>
    readNames(bytes, start, length, (reader) => {
      const soa = { mname: reader.name(), rname: reader.name(), serial: reader.u32() };
      reader.skip(16);
      return soa;
    }),
  TXT: (bytes, start, length) => {
    expectLength(length > 0);
    const end = start + 2 + length;
    const first = start + 3;
    const firstEnd = first + (bytes[start + 2] ?? 0);
    if (firstEnd === end) return bytes.toString('utf8', first, end);
    // RFC 7208 §3.3: joined without separators. Bytes are joined, since a string may end within a character.
    const strings: Buffer[] = [];
    for (let at = start + 2; at < end; ) {
      const next = at + 1 + (bytes[at] ?? 0);
      expectLength(next <= end);
      strings.push(bytes.subarray(at + 1, next));
      at = next;
    }
    return Buffer.concat(strings).toString('utf8');
  },
  CAA: (bytes, start, length) => {
    // RFC 8659 §4.1: flags, tag length, a tag of at least one character, and the value up to the end.
    const tagLength = bytes[start + 3] ?? 0;
    expectLength(length >= 3 && tagLength > 0 && tagLength + 2 <= length);
    const { flags, tag, value } = codecs.caa.decode(bytes, start);
    return { critical: flags >= 128, tag: tag.toLowerCase(), value };
  },
  DS: (bytes, start, length) => {
    expectLength(length > 4);
    const { keyTag, algorithm, digestType, digest } = codecs.ds.decode(bytes, start);
    return { keyTag, algorithm, digestType, digest: digest.toString('hex') };
  },
};

/** Data with names: its actual length is known only after decoding, because a name may end in a pointer. */
function readNames<T>(bytes: Buffer, start: number, length: number, read: (reader: MessageReader) => T): T {
  const reader = new MessageReader(bytes, start + 2);
  const value = read(reader);
  expectLength(reader.offset === start + 2 + length);
  return value;
}

/** The MINIMUM field of an SOA record: the TTL of negative answers (RFC 2308 §4), in seconds. */
export function readSoaMinimum(bytes: Buffer, start: number): number {
  const length = bytes.readUInt16BE(start);
  expectLength(length >= 22);
  return bytes.readUInt32BE(start + 2 + length - 4);
}

function expectLength(isExpected: boolean): void {
  if (!isExpected) throw new Malformed('record data has another length than declared');
}
