// The snapshot of the index on disk: written to a temporary file, then renamed; read only if it is complete and of this store.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { type DomainIndex, decodeSnapshot, encodeSnapshot } from '@strata/analytics';
import type { RoleOf } from '@strata/detect';
import { removeLeftOvers, replaceFile } from '@strata/files';

const MAGIC = Buffer.from('STRATAIX');
/** Magic, CRC-32 of the body (4 bytes), its length (8 bytes). */
const HEAD_BYTES = MAGIC.length + 12;
const PIECE_BYTES = 4 * 1024 * 1024;

/** Writes the index atomically: a crash leaves the old file or the new one. */
export async function saveIndex(file: string, index: DomainIndex, storeId: string): Promise<void> {
  const body = encodeSnapshot(index, storeId);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(await checksum(body), MAGIC.length);
  head.writeBigUInt64LE(BigInt(body.length), MAGIC.length + 4);
  await mkdir(path.dirname(file), { recursive: true });
  try {
    // Processes in different containers may share the directory.
    await replaceFile(file, [head, body], { mode: 0o600, sync: 'content', isShared: true });
  } catch (cause) {
    throw new Error('save the index', { cause });
  }
}

/** CRC-32 in slices, so that it blocks the event loop for a few milliseconds at a time. */
async function checksum(body: Uint8Array): Promise<number> {
  let sum = 0;
  for (let from = 0; from < body.length; from += PIECE_BYTES) {
    sum = crc32(body.subarray(from, from + PIECE_BYTES), sum);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sum;
}

/** The index of the file; undefined, with the reason, if there is no usable one. */
export async function loadIndex(
  file: string,
  storeId: string,
  roleOf: RoleOf,
): Promise<{ readonly index: DomainIndex } | { readonly index?: undefined; readonly why: string }> {
  let bytes: Buffer;
  try {
    await removeLeftOvers(file);
    bytes = await readFile(file);
  } catch (error) {
    return { why: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no snapshot' : String(error) };
  }
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    return { why: 'it is not a snapshot' };
  const body = bytes.subarray(HEAD_BYTES);
  if (bytes.readBigUInt64LE(MAGIC.length + 4) !== BigInt(body.length)) return { why: 'it is truncated' };
  if (bytes.readUInt32LE(MAGIC.length) !== crc32(body)) return { why: 'it is damaged' };
  const index = decodeSnapshot(body, storeId, roleOf);
  return index ? { index } : { why: 'it is of another version or another store' };
}
