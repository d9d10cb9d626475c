// The snapshot of the index on disk: written to a temporary file, then renamed; read only if it is complete and of this
// store. Chunks are written and read one after the other, each with its length and its checksum.
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { type DomainIndex, decodeSnapshot, encodeSnapshot } from '@strata/analytics';
import type { RoleOf } from '@strata/detect';
import { removeLeftOvers, replaceFile } from '@strata/files';

/** Files of earlier versions, of one chunk, begin with `STRATAIX`. */
const MAGIC = Buffer.from('STRATAI2');
/** Before each chunk: its length, and its CRC-32; 4 bytes each, little-endian. */
const HEAD_BYTES = 8;

/** Writes the index atomically: a crash leaves the old file or the new one. The index may change during the call. */
export async function saveIndex(file: string, index: DomainIndex, storeId: string): Promise<void> {
  const chunks = encodeSnapshot(index, storeId);
  await mkdir(path.dirname(file), { recursive: true });
  try {
    // Processes in different containers may share the directory.
    await replaceFile(file, framed(chunks), { mode: 0o600, sync: 'content', isShared: true });
  } catch (cause) {
    throw new Error('save the index', { cause });
  }
}

function* framed(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield MAGIC;
  for (const chunk of chunks) {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(chunk.length, 0);
    head.writeUInt32LE(crc32(chunk), 4);
    yield head;
    yield chunk;
  }
}

/** The index of the file; undefined, with the reason, if there is no usable one. */
export async function loadIndex(
  file: string,
  storeId: string,
  roleOf: RoleOf,
): Promise<{ readonly index: DomainIndex } | { readonly index?: undefined; readonly why: string }> {
  try {
    await removeLeftOvers(file);
    await using handle = await open(file);
    const index = await decodeSnapshot(chunksIn(handle), storeId, roleOf);
    return index ? { index } : { why: 'it is of another version or another store' };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { why: isMissing ? 'there is no snapshot' : String(error) };
  }
}

/** Throws where the file is cut or damaged. */
async function* chunksIn(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat();
  let at = 0;
  const next = async (length: number) => {
    if (at + length > size) throw new Error('the snapshot is truncated');
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let read = 0; read < length; ) {
      const { bytesRead } = await handle.read(bytes, read, length - read, at + read);
      if (bytesRead === 0) throw new Error('the snapshot is truncated');
      read += bytesRead;
    }
    at += length;
    return bytes;
  };
  if (size < MAGIC.length || !(await next(MAGIC.length)).equals(MAGIC))
    throw new Error('it is not a snapshot of this version');
  while (at < size) {
    const head = await next(HEAD_BYTES);
    const chunk = await next(head.readUInt32LE(0));
    if (crc32(chunk) !== head.readUInt32LE(4)) throw new Error('the snapshot is damaged');
    yield chunk;
  }
}
