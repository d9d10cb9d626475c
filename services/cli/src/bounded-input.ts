// Reads input of unknown size.
import { open } from 'node:fs/promises';

const MAX_BYTES = 1024 * 1024;

/** The complete input, or undefined where it is larger than `maxBytes`; the rest is not read then. */
export async function readBounded(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of input) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a text file of at most 1 MiB. Rejects with the system's error, or an Error with the reason. */
export async function readSmallFile(file: string, maxBytes = MAX_BYTES): Promise<string> {
  await using handle = await open(file, 'r');
  const stats = await handle.stat();
  if (stats.isDirectory()) throw new Error('it is a directory');
  const bytes = Buffer.alloc(maxBytes + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  const text = bytes.toString('utf8', 0, length);
  if (text.includes('\0')) throw new Error('it is not a text file');
  return text;
}
