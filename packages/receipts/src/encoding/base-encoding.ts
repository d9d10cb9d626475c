// RFC 4648 text encodings. Decoders are strict: each value has exactly one text, so that altered characters are always detected.

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const HEX = '0123456789abcdef';

/** Lower-case hexadecimal (RFC 4648 section 8). */
export const encodeHex = (bytes: Uint8Array): string => encode(bytes, HEX_PAIRS, 4);
/** Bytes of lower-case hexadecimal, or undefined. */
export const decodeHex = (text: string): Uint8Array | undefined => decode(text, HEX_VALUES, 4);

/** Standard base64 with padding (RFC 4648 section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encode(bytes, BASE64_PAIRS, 6);
  return text + '='.repeat((4 - (text.length % 4)) % 4);
}

/** Bytes of canonical, padded base64; undefined for anything else (white space, missing padding, stray bits). */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = decode(text.slice(0, text.length - padding), BASE64_VALUES, 6);
  return bytes && (3 - (bytes.length % 3)) % 3 === padding ? bytes : undefined;
}

/** Unpadded base64url (RFC 4648 section 5), as JOSE uses it. */
export const encodeBase64Url = (bytes: Uint8Array): string =>
  encode(bytes, BASE64_PAIRS, 6).replaceAll('+', '-').replaceAll('/', '_');
/** Bytes of unpadded base64url, or undefined. */
export const decodeBase64Url = (text: string): Uint8Array | undefined => decode(text, BASE64URL_VALUES, 6);

/** Lower-case base32 without padding (RFC 4648 section 6). */
export const encodeBase32 = (bytes: Uint8Array): string => encode(bytes, BASE32_PAIRS, 5);
/** Bytes of lower-case unpadded base32, or undefined. */
export const decodeBase32 = (text: string): Uint8Array | undefined => decode(text, BASE32_VALUES, 5);

const HEX_PAIRS = pairsOf(HEX);
const BASE64_PAIRS = pairsOf(BASE64);
const BASE32_PAIRS = pairsOf(BASE32);
const HEX_VALUES = valuesOf(HEX);
const BASE64_VALUES = valuesOf(BASE64);
const BASE64URL_VALUES = valuesOf(BASE64URL);
const BASE32_VALUES = valuesOf(BASE32);

/** Character code -> value; 255 for a character outside the alphabet. */
function valuesOf(alphabet: string): Uint8Array {
  const values = new Uint8Array(128).fill(255);
  for (let value = 0; value < alphabet.length; value++) values[alphabet.charCodeAt(value)] = value;
  return values;
}

/** All pairs of an alphabet's characters, in order: appending two at once makes half of the objects. */
function pairsOf(alphabet: string): readonly string[] {
  return [...alphabet].flatMap((first) => [...alphabet].map((second) => first + second));
}

function encode(bytes: Uint8Array, pairs: readonly string[], bitsPerCharacter: number): string {
  const bits = 2 * bitsPerCharacter;
  let text = '';
  let pending = 0;
  let pendingBits = 0;
  for (let at = 0; at < bytes.length; at++) {
    pending = (pending << 8) | (bytes[at] as number);
    pendingBits += 8;
    if (pendingBits < bits) continue;
    pendingBits -= bits;
    text += pairs[pending >> pendingBits];
    pending &= (1 << pendingBits) - 1;
  }
  if (pendingBits === 0) return text;
  const last = pairs[pending << (bits - pendingBits)] as string;
  return text + (pendingBits > bitsPerCharacter ? last : last[0]);
}

function decode(text: string, values: Uint8Array, bitsPerCharacter: number): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * bitsPerCharacter) / 8));
  let length = 0;
  let pending = 0;
  let pendingBits = 0;
  for (let at = 0; at < text.length; at++) {
    const value = values[text.charCodeAt(at)] ?? 255;
    if (value === 255) return undefined;
    pending = (pending << bitsPerCharacter) | value;
    pendingBits += bitsPerCharacter;
    if (pendingBits < 8) continue;
    pendingBits -= 8;
    bytes[length++] = pending >> pendingBits;
    pending &= (1 << pendingBits) - 1;
  }
  // Left-over bits must be zero and fewer than a character: otherwise two texts would decode to the same bytes.
  return pendingBits < bitsPerCharacter && pending === 0 ? bytes : undefined;
}
