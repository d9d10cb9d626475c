// SHA-256 of files.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { onDisk } from './disk-error.ts';

const READ_BYTES = 1024 * 1024;

/** Hex SHA-256 of the bytes on the disk. Rejects with DiskError, or with the signal's reason. */
export async function hashFile(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const hashing = async () => {
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) {
      if (signal?.aborted) break;
      hash.update(chunk as Buffer);
    }
  };
  await onDisk(`read ${path.basename(file)}`, hashing());
  signal?.throwIfAborted();
  return hash.digest('hex');
}
