// Text as one byte for each UTF-16 unit, as domain names are stored.

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length }, (_, i) => byteOf(text.charCodeAt(i)));
}

/** No name contains non-ASCII characters; truncated to a byte they would become another character. */
export function byteOf(unit: number): number {
  return unit < 128 ? unit : 255;
}
