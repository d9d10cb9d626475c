// The snapshot of the index on disk: written beside, then renamed; read only when it is whole and of this store.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { type DomainIndex, decodeSnapshot, encodeSnapshot } from '@strata/analytics';
import { removeLeftOvers } from '@strata/log';

const MAGIC = Buffer.from('STRATAIX');
/** Magic, CRC-32 of what follows (4 bytes), its length (8 bytes). */
const HEAD_BYTES = MAGIC.length + 12;
const PIECE_BYTES = 4 * 1024 * 1024;

/** Writes the index so that a kill leaves the old file or the new one, never half of one. */
export async function saveIndex(file: string, index: DomainIndex, storeId: string): Promise<void> {
  const body = encodeSnapshot(index, storeId);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(await checksum(body), MAGIC.length);
  head.writeBigUInt64LE(BigInt(body.length), MAGIC.length + 4);
  // Processes of one directory may have the same number, each in a container of its own.
  const beside = `${file}.${randomUUID()}.new`;
  await mkdir(path.dirname(file), { recursive: true });
  try {
    const handle = await open(beside, 'w', 0o600);
    try {
      const { bytesWritten } = await handle.writev([head, body]);
      if (bytesWritten !== head.length + body.length) throw new Error('the disk took only a part');
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (cause) {
    await rm(beside, { force: true });
    throw new Error('save the index', { cause });
  }
}

/** CRC-32, in pieces: what waits meanwhile waits a few milliseconds and not a hundred. */
async function checksum(body: Uint8Array): Promise<number> {
  let sum = 0;
  for (let from = 0; from < body.length; from += PIECE_BYTES) {
    sum = crc32(body.subarray(from, from + PIECE_BYTES), sum);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sum;
}

/** The index of the file; undefined, with the reason, when there is none that may be used. */
export async function loadIndex(
  file: string,
  storeId: string,
): Promise<{ readonly index: DomainIndex } | { readonly index?: undefined; readonly why: string }> {
  let bytes: Buffer;
  try {
    await removeLeftOvers(file);
    bytes = await readFile(file);
  } catch (error) {
    return { why: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is none' : String(error) };
  }
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return { why: 'it is no snapshot' };
  const body = bytes.subarray(HEAD_BYTES);
  if (bytes.readBigUInt64LE(MAGIC.length + 4) !== BigInt(body.length)) return { why: 'it is cut off' };
  if (bytes.readUInt32LE(MAGIC.length) !== crc32(body)) return { why: 'it is damaged' };
  const index = decodeSnapshot(body, storeId);
  return index ? { index } : { why: 'it is of another version or another store' };
}
