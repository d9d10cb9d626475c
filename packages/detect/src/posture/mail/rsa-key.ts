// The size of an RSA public key in DER: SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), or the bare RSAPublicKey that some
// publish (RFC 8017 A.1.1). Parses only the necessary bytes and validates every length.

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_IDENTIFIER = 0x06;
/** 1.2.840.113549.1.1.1, rsaEncryption. */
const RSA_ENCRYPTION = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

interface Element {
  readonly tag: number;
  /** Of the content. */
  readonly start: number;
  readonly end: number;
}

/** Bits of the modulus, null if the bytes are not an RSA public key. */
export function rsaModulusBits(der: Uint8Array): number | null {
  const outer = readElement(der, 0, der.length);
  if (outer?.tag !== SEQUENCE) return null;
  const first = readElement(der, outer.start, outer.end);
  if (first?.tag === INTEGER) return modulusBits(der, outer);
  const identifier = first?.tag === SEQUENCE ? readElement(der, first.start, first.end) : null;
  if (!first || identifier?.tag !== OBJECT_IDENTIFIER || !isRsa(der, identifier)) return null;
  const bits = readElement(der, first.end, outer.end);
  // The first byte of a bit string is the number of unused bits at its end.
  if (bits?.tag !== BIT_STRING || der[bits.start] !== 0) return null;
  const key = readElement(der, bits.start + 1, bits.end);
  return key?.tag === SEQUENCE ? modulusBits(der, key) : null;
}

/** The modulus is the first of the two integers of an RSAPublicKey. */
function modulusBits(der: Uint8Array, key: Element): number | null {
  const modulus = readElement(der, key.start, key.end);
  if (modulus?.tag !== INTEGER || readElement(der, modulus.end, key.end)?.tag !== INTEGER) return null;
  let at = modulus.start;
  while (at < modulus.end && der[at] === 0) at++;
  if (at === modulus.end) return null;
  return (modulus.end - at - 1) * 8 + (32 - Math.clz32(der[at] as number));
}

function isRsa(der: Uint8Array, { start, end }: Element): boolean {
  return end - start === RSA_ENCRYPTION.length && RSA_ENCRYPTION.every((byte, i) => der[start + i] === byte);
}

/** X.690 §8.1: tag, length of one to four bytes, content; null if it exceeds the input. */
function readElement(der: Uint8Array, at: number, limit: number): Element | null {
  const tag = der[at];
  const first = der[at + 1];
  if (tag === undefined || first === undefined || at + 2 > limit) return null;
  if (first < 0x80) return fits({ tag, start: at + 2, end: at + 2 + first }, limit);
  const count = first & 0x7f;
  if (count === 0 || count > 4 || at + 2 + count > limit) return null;
  let length = 0;
  for (let i = 0; i < count; i++) length = length * 256 + (der[at + 2 + i] as number);
  return fits({ tag, start: at + 2 + count, end: at + 2 + count + length }, limit);
}

function fits(element: Element, limit: number): Element | null {
  return element.end <= limit ? element : null;
}
