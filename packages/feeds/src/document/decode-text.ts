// Decodes the bytes of a feed: byte order mark, HTTP charset, XML declaration (RFC 7303 §3), and detection.

/** The XML declaration is at the start; some leading junk is tolerated. */
const MAX_DECLARATION_BYTES = 1_024;
const XML_ENCODING = /<\?xml[^>]{0,200}?\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']/i;
const HTTP_CHARSET = /(?:^|;)\s{0,9}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i;

/** Information from the HTTP response. */
export interface DecodeOptions {
  readonly contentType: string | null;
  /** The last character may be incomplete. */
  readonly isTruncated: boolean;
}

/**
 * Never fails. A declared encoding is used only if the bytes are valid in it. Bytes that are valid UTF-8 with characters outside
 * ASCII are decoded as UTF-8 in any case, since hardly any text in another encoding is valid UTF-8.
 */
export function decodeText(bytes: Uint8Array, { contentType, isTruncated }: DecodeOptions): string {
  const unicode = unicodeMark(bytes);
  if (unicode !== null) return new TextDecoder(unicode).decode(bytes);
  const utf8 = decode(bytes, 'utf-8', isTruncated);
  if (utf8 !== null && utf8.length < bytes.length) return utf8;
  for (const label of declaredEncodings(bytes, contentType)) {
    const text = decode(bytes, label, isTruncated);
    if (text !== null) return text;
  }
  return utf8 ?? decodeDamaged(bytes);
}

/** From a byte order mark, or from the zero bytes of `<` in UTF-16. */
function unicodeMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  return null;
}

/** Excludes UTF-16: bytes in which a declaration is readable are not UTF-16. */
function declaredEncodings(bytes: Uint8Array, contentType: string | null): string[] {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_DECLARATION_BYTES));
  const labels = [
    HTTP_CHARSET.exec((contentType ?? '').slice(0, 500))?.[1],
    XML_ENCODING.exec(head.toString('latin1'))?.[1],
  ];
  return labels.filter(
    (label) => label !== undefined && !/^(?:utf-?16|utf-?8|ucs-?2|iso-10646-ucs)/i.test(label),
  ) as string[];
}

/** Null if the label is unknown or the bytes are invalid in that encoding. */
function decode(bytes: Uint8Array, label: string, isTruncated: boolean): string | null {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: isTruncated });
  } catch {
    return null;
  }
}

/** Decodes as UTF-8 with a few invalid characters; if most are invalid, as windows-1252. */
function decodeDamaged(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes);
  let invalid = 0;
  let valid = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0xfffd) invalid++;
    else if (code > 0x7f) valid++;
  }
  return valid >= invalid ? text : new TextDecoder('windows-1252').decode(bytes);
}
