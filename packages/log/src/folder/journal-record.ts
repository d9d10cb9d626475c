// Decodes the journal of earlier versions, which has a record for each batch of leaves. Big-endian:
// magic (4), payload bytes (4), first leaf index (8), leaves (4), CRC-32 of all that and the payload (4), payload.
import { crc32 } from 'node:zlib';
import { decodeEntries } from '@strata/receipts';

const MAGIC = 0x53_4c_72_31; // "SLr1"
const HEADER_BYTES = 24;
const CRC_AT = 20;

/** The decoded content of a segment. */
export interface DecodedSegment {
  /** Batches in order; their leaves are views of the bytes. */
  readonly batches: readonly (readonly Uint8Array[])[];
  readonly leaves: number;
  /** End of the last valid record. */
  readonly goodBytes: number;
  /**
   * `torn`: followed by bytes of an incomplete record, which was never acknowledged, since records are synced one by one.
   * `corrupt`: a valid record follows the invalid bytes, so these had been durable.
   */
  readonly end: 'clean' | 'torn' | 'corrupt';
}

export function decodeSegment(bytes: Buffer, firstIndex: number): DecodedSegment {
  const batches: Uint8Array[][] = [];
  let next = firstIndex;
  let at = 0;
  while (at < bytes.length) {
    const batch = decodeRecord(bytes, at, (index) => index === next);
    if (!batch) return { batches, leaves: next - firstIndex, goodBytes: at, end: endAfter(bytes, at, next) };
    batches.push(batch.leaves);
    next += batch.leaves.length;
    at = batch.end;
  }
  return { batches, leaves: next - firstIndex, goodBytes: at, end: 'clean' };
}

function endAfter(bytes: Buffer, bad: number, expected: number): 'torn' | 'corrupt' {
  const magic = Buffer.alloc(4);
  magic.writeUInt32BE(MAGIC);
  for (let at = bytes.indexOf(magic, bad + 1); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    if (decodeRecord(bytes, at, (index) => index > expected)) return 'corrupt';
  }
  return 'torn';
}

function decodeRecord(
  bytes: Buffer,
  at: number,
  isExpected: (firstIndex: number) => boolean,
): { leaves: Uint8Array[]; end: number } | undefined {
  if (at + HEADER_BYTES > bytes.length || bytes.readUInt32BE(at) !== MAGIC) return undefined;
  const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4);
  if (end > bytes.length || !isExpected(Number(bytes.readBigUInt64BE(at + 8)))) return undefined;
  const record = bytes.subarray(at, end);
  if (checksum(record, record.length) !== record.readUInt32BE(CRC_AT)) return undefined;
  const leaves = decodeEntries(record.subarray(HEADER_BYTES));
  return leaves?.length === record.readUInt32BE(16) ? { leaves, end } : undefined;
}

function checksum(record: Buffer, end: number): number {
  return crc32(record.subarray(HEADER_BYTES, end), crc32(record.subarray(0, CRC_AT)));
}
