// The magic bytes and the SHA-256 of GGUF files.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { ModelStoreError, onDisk } from './error.ts';

/** https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: the first four bytes. */
const MAGIC = Buffer.from('GGUF');
const READ_BYTES = 1024 * 1024;

function hasMagic(beginning: Uint8Array): boolean {
  return MAGIC.equals(beginning.subarray(0, MAGIC.length));
}

/** Size in bytes. Rejects with `not-found`, and with `corrupt` if the file is not a GGUF file. */
export async function checkGgufFile(file: string): Promise<number> {
  const handle = await open(file).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw new ModelStoreError('not-found', `there is no file ${file}`, { cause });
    return onDisk(`read ${file}`, Promise.reject(cause));
  });
  try {
    const { buffer, bytesRead } = await onDisk(
      `read ${file}`,
      handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0),
    );
    if (!hasMagic(buffer.subarray(0, bytesRead))) throw new ModelStoreError('corrupt', `${file} is not a GGUF file`);
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** Passes on a GGUF file; rejects anything else by its first bytes, before any chunk is yielded. */
export async function* ggufOnly(chunks: AsyncIterable<Uint8Array>, what: string): AsyncIterable<Uint8Array> {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!beginning) {
      yield chunk;
      continue;
    }
    beginning = Buffer.concat([beginning, chunk]);
    if (beginning.length < MAGIC.length) continue;
    if (!hasMagic(beginning)) break;
    yield beginning;
    beginning = undefined;
  }
  if (beginning) throw new ModelStoreError('corrupt', `the response for ${what} is not a GGUF file`);
}

/** Hex SHA-256 of the bytes on the disk. */
export async function hashFile(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) {
      signal?.throwIfAborted();
      hash.update(chunk as Buffer);
    }
  } catch (error) {
    signal?.throwIfAborted();
    await onDisk(`read ${path.basename(file)}`, Promise.reject(error));
  }
  return hash.digest('hex');
}
