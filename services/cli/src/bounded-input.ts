// Reads input of unknown size.
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
