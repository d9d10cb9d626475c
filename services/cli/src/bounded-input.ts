// Reads input of unknown size.
import type { Readable } from 'node:stream';

/** The complete input, or undefined where it is larger than `maxBytes`; the rest is not read then. */
export async function readBounded(input: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
