// Sanitises untrusted text so that it can be stored, signed and shown.

const FIRST_PRINTABLE = 0x20;
const DELETE = 0x7f;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes control characters
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/g;

/**
 * At most `maxLength` UTF-16 units. Control characters (PostgreSQL stores no NUL) and lone surrogates (RFC 8785 rejects
 * them) become U+FFFD.
 */
export function cutText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? text.slice(0, maxLength) : text;
  return isFit(cut) ? cut : cut.replace(CONTROL_CHARACTERS, '\ufffd').toWellFormed();
}

/** True of nearly every text; the test is several times faster than a replacement that changes nothing. */
function isFit(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < FIRST_PRINTABLE || code === DELETE || (code >= FIRST_SURROGATE && code <= LAST_SURROGATE)) return false;
  }
  return true;
}
