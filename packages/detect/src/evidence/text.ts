// Text from strangers, made fit to be stored, signed and shown.

const FIRST_PRINTABLE = 0x20;
const DELETE = 0x7f;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/g;

/**
 * At most `maxLength` UTF-16 units, without control characters (PostgreSQL stores no NUL) and lone surrogates
 * (RFC 8785 signs none): each becomes U+FFFD.
 */
export function cutText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? text.slice(0, maxLength) : text;
  return isFit(cut) ? cut : cut.replace(CONTROL_CHARACTERS, '\ufffd').toWellFormed();
}

/** Nearly every text is, and a look at it is several times faster than to replace nothing. */
function isFit(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < FIRST_PRINTABLE || code === DELETE || (code >= FIRST_SURROGATE && code <= LAST_SURROGATE)) return false;
  }
  return true;
}
