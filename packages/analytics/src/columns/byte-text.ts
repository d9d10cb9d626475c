// Text as one byte for each UTF-16 unit, as domain names are stored.

export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = byteOf(text.charCodeAt(i));
  return bytes;
}

/** No name contains non-ASCII characters; truncated to a byte they would become another character. */
function byteOf(unit: number): number {
  return unit < 128 ? unit : 255;
}
