// Untrusted text as one line.

/**
 * Characters that reorder text or are invisible: format characters (bidirectional marks and overrides, zero width, tags) and
 * `Default_Ignorable_Code_Point` (variation selectors, Hangul fillers, unassigned tags). A message can be hidden in them. U+2800, the
 * blank Braille pattern, is invisible too, although Unicode classifies it as a symbol.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** Untrusted text as one line for a terminal or a model, without line breaks, control characters and invisible characters. */
export function plainText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(INVISIBLE, '');
}
