// RFC 4648 text encodings. Decoders are strict: each value has exactly one text, so that altered characters are always detected.
import { base16 } from 'multiformats/bases/base16';
import { base32 } from 'multiformats/bases/base32';
import { base64pad, base64url } from 'multiformats/bases/base64';

/** Lower-case hexadecimal (RFC 4648 section 8). */
export const encodeHex = (bytes: Uint8Array): string => base16.baseEncode(bytes);
/** Bytes of lower-case hexadecimal, or undefined. */
export const decodeHex = (text: string): Uint8Array | undefined => decoded(base16, text);

/** Standard base64 with padding (RFC 4648 section 4). */
export const encodeBase64 = (bytes: Uint8Array): string => base64pad.baseEncode(bytes);
/** Bytes of canonical, padded base64; undefined for anything else (white space, missing padding, stray bits). */
export const decodeBase64 = (text: string): Uint8Array | undefined => decoded(base64pad, text);

/** Unpadded base64url (RFC 4648 section 5), as JOSE uses it. */
export const encodeBase64Url = (bytes: Uint8Array): string => base64url.baseEncode(bytes);
/** Bytes of unpadded base64url, or undefined. */
export const decodeBase64Url = (text: string): Uint8Array | undefined => decoded(base64url, text);

/** Lower-case base32 without padding (RFC 4648 section 6). */
export const encodeBase32 = (bytes: Uint8Array): string => base32.baseEncode(bytes);
/** Bytes of lower-case unpadded base32, or undefined. */
export const decodeBase32 = (text: string): Uint8Array | undefined => decoded(base32, text);

interface Codec {
  baseEncode(bytes: Uint8Array): string;
  baseDecode(text: string): Uint8Array;
}

/** The codecs read other spellings too, which they do not write. */
function decoded(codec: Codec, text: string): Uint8Array | undefined {
  try {
    const bytes = codec.baseDecode(text);
    return codec.baseEncode(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
