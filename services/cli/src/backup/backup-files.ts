// The files of a backup, written and read as streams: no file is held in memory.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { CommandError } from '../errors.ts';
import type { Part } from './manifest.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** Nearly the size of the highest level, in a quarter of the time. */
const GZIP_LEVEL = 2;
const READ_BYTES = 1 << 18;

/** Writes a new file of the backup durably, compressed where its name ends in `.gz`. */
export async function writeBackupFile(folder: string, name: string, bytes: Bytes): Promise<Part> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const sum = createHash('sha256');
  const counted = counter(sum);
  const out = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  if (name.endsWith('.gz')) await pipeline(bytes, createGzip({ level: GZIP_LEVEL }), counted.through, out);
  else await pipeline(bytes, counted.through, out);
  return { path: name, bytes: counted.bytes(), sha256: sum.digest('hex') };
}

/** Size and digest of an existing file of the backup; makes the file durable. */
export async function describeBackupFile(folder: string, name: string, signal?: AbortSignal): Promise<Part> {
  const handle = await open(path.join(folder, name), 'r+');
  try {
    await handle.chmod(0o600);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { path: name, ...(await digestOf(path.join(folder, name), signal)) };
}

export async function digestOf(file: string, signal?: AbortSignal): Promise<Omit<Part, 'path'>> {
  const sum = createHash('sha256');
  const counted = counter(sum);
  for await (const _ of counted.through(createReadStream(file, { highWaterMark: 1 << 20 }))) signal?.throwIfAborted();
  return { bytes: counted.bytes(), sha256: sum.digest('hex') };
}

/** The uncompressed bytes of a file of the backup. */
export async function* readBackupFile(folder: string, name: string): AsyncGenerator<Uint8Array> {
  yield* plainBytes(name, createReadStream(path.join(folder, name), { highWaterMark: READ_BYTES }));
}

/**
 * The same for a file that a manifest describes. Throws CommandError at the end if the digest differs, also if the file was altered after
 * its verification. A caller must not commit anything before the end.
 */
export async function* readVerified(folder: string, part: Part): AsyncGenerator<Uint8Array> {
  const sum = createHash('sha256');
  const counted = counter(sum);
  const file = createReadStream(path.join(folder, part.path), { highWaterMark: READ_BYTES });
  yield* plainBytes(part.path, counted.through(file));
  refuseOther(part, { bytes: counted.bytes(), sha256: sum.digest('hex') });
}

/** A small file of the backup. Throws CommandError if the digest differs. */
export const readVerifiedText = async (folder: string, part: Part): Promise<string> =>
  (await buffer(readVerified(folder, part))).toString();

/** Throws CommandError. */
export function refuseOther(part: Part, found: Omit<Part, 'path'>): void {
  if (found.bytes !== part.bytes || found.sha256 !== part.sha256)
    throw new CommandError(`the backup is damaged: ${part.path} does not match the manifest`);
}

async function* plainBytes(name: string, file: Bytes): AsyncGenerator<Uint8Array> {
  if (!name.endsWith('.gz')) return yield* file;
  const plain = createGunzip();
  // The iteration throws an error of either stream.
  const reading = pipeline(file, plain).catch((error: Error) => void plain.destroy(error));
  yield* plain;
  await reading;
}

function counter(sum: Hash) {
  let bytes = 0;
  return {
    bytes: () => bytes,
    async *through(pieces: Bytes): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        sum.update(piece);
        bytes += piece.length;
        yield piece;
      }
    },
  };
}
