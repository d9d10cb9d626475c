// The magic bytes of GGUF files.
import { open } from 'node:fs/promises';
import { type DiskError, onDisk } from '@strata/files';
import { ModelStoreError } from './error.ts';

/** https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: the first four bytes. */
const MAGIC = Buffer.from('GGUF');

function hasMagic(beginning: Uint8Array): boolean {
  return MAGIC.equals(beginning.subarray(0, MAGIC.length));
}

/** Size in bytes. Rejects with DiskError, with `not-found`, and with `corrupt` if the file is not a GGUF file. */
export async function checkGgufFile(file: string): Promise<number> {
  await using handle = await onDisk(`read ${file}`, open(file)).catch((cause: DiskError) => {
    throw cause.code === 'ENOENT' ? new ModelStoreError('not-found', `there is no file ${file}`, { cause }) : cause;
  });
  const { buffer, bytesRead } = await onDisk(
    `read ${file}`,
    handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0),
  );
  if (!hasMagic(buffer.subarray(0, bytesRead))) throw new ModelStoreError('corrupt', `${file} is not a GGUF file`);
  return (await handle.stat()).size;
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
