// Reads the files of a zip archive sequentially, bounded: archives contain hundreds of thousands.
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { SourceError } from '../source.ts';

export interface ZipEntry {
  /** Its path in the archive; for messages, never used as a path on disk. */
  readonly name: string;
  readonly sizeBytes: number;
  /** The complete content. Rejects with SourceError if it is longer than declared or than `maxBytes`, or damaged. */
  read(maxBytes: number): Promise<Buffer>;
  unpack(file: string, maxBytes: number): Promise<void>;
}

/** The file entries, in the order of the archive's directory. */
export async function* zipEntries(file: string): AsyncGenerator<ZipEntry> {
  let zip: Awaited<ReturnType<typeof yauzl.openPromise>>;
  try {
    // Names are not decoded or validated: an invalid one must not fail the other entries.
    zip = await yauzl.openPromise(file, { autoClose: false, validateEntrySizes: true, decodeStrings: false });
  } catch (cause) {
    throw new SourceError('the archive cannot be read: it is damaged or not a zip', { cause });
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
