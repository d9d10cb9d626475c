// Character escapes of regular expressions. tc39.es/ecma262/#prod-CharacterEscape

/** The pattern is malformed or outside of the subset; the message says why. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const CONTROL: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
/** Of `\u` and `\x`, after the letter. */
const HEX =
  /^(?:u\{([0-9a-fA-F]{1,6})\}|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/;

/** The character of an escape, and how many characters of `after` belong to it. Throws PatternError. */
export function escapedChar(letter: string, after: string): { readonly char: number; readonly length: number } {
  const control = CONTROL[letter];
  if (control !== undefined) return { char: control, length: 0 };
  if (letter === 'c' && /^[A-Za-z]/.test(after)) return { char: after.charCodeAt(0) % 32, length: 1 };
  const [all, braced, high, low, four, two] = HEX.exec(letter + after) ?? [];
  if (all === undefined) return { char: letter.codePointAt(0) ?? 0, length: 0 };
  const hex = (digits: string) => Number.parseInt(digits, 16);
  const char =
    high === undefined
      ? hex(braced ?? four ?? two ?? '')
      : 0x10000 + ((hex(high) & 0x3ff) << 10) + (hex(low ?? '') & 0x3ff);
  if (char > 0x10ffff) throw new PatternError('has an escape above U+10FFFF');
  return { char, length: all.length - 1 };
}
