// Text from strangers, made fit to be stored, signed and shown.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/g;

/**
 * At most `maxLength` UTF-16 units, without control characters (PostgreSQL stores no NUL) and lone surrogates
 * (RFC 8785 signs none): each becomes U+FFFD.
 */
export function cutText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? text.slice(0, maxLength) : text;
  return cut.replace(CONTROL_CHARACTERS, '\ufffd').toWellFormed();
}
