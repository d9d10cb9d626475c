// The files in a zip archive, one after another, bounded: archives of publishers hold hundreds of thousands.
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { SourceError } from '../source.ts';

export interface ZipEntry {
  /** Its path in the archive; told, never used as a path on disk. */
  readonly name: string;
  readonly sizeBytes: number;
  /** All of it. Rejects with SourceError when it is longer than it says or than `maxBytes`, or damaged. */
  read(maxBytes: number): Promise<Buffer>;
  /** Unpacks it into a file. */
  unpack(file: string, maxBytes: number): Promise<void>;
}

/** The entries that are files, in the order of the archive's directory. */
export async function* zipEntries(file: string): AsyncGenerator<ZipEntry> {
  let zip: Awaited<ReturnType<typeof yauzl.openPromise>>;
  try {
    // Names stay bytes: one that would be no path of ours is no reason to read none of the others.
    zip = await yauzl.openPromise(file, { autoClose: false, validateEntrySizes: true, decodeStrings: false });
  } catch (cause) {
    throw new SourceError('the archive cannot be read: it is damaged or no zip', { cause });
  }
  try {
    for await (const entry of zip.eachEntry()) {
      const name = Buffer.from(entry.fileName).toString('utf8');
      if (name.endsWith('/')) continue;
      yield {
        name,
        sizeBytes: entry.uncompressedSize,
        async read(maxBytes) {
          return await readAll(await zip.openReadStreamPromise(entry), name, maxBytes);
        },
        async unpack(to, maxBytes) {
          if (entry.uncompressedSize > maxBytes) throw tooLong(name, maxBytes);
          await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(to));
        },
      };
    }
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    throw new SourceError('the archive cannot be read: it is damaged', { cause });
  } finally {
    zip.close();
  }
}

async function readAll(stream: Readable, name: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw tooLong(name, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLong = (name: string, maxBytes: number) => new SourceError(`${name} is longer than ${maxBytes} bytes`);
