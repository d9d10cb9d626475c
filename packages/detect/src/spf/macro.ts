// The syntax of SPF macros (RFC 7208 §7). A macro's value depends on the message, so macros are checked and never expanded.

/**
 * §7.1 macro-string: visible ASCII and macros. Not the letters `c`, `r` and `t`, which are for explanations only (§7.2). The
 * number of parts to keep is at least one (§7.3). The group is set where the text ends in a macro.
 */
const MACRO_STRING = /^(?:[\x21-\x24\x26-\x7e]|(%(?:\{[slodipvh](?:0*[1-9]\d*)?r?[.\-+,/_=]*\}|[%_-])))*$/i;
/** §12 toplabel, after its dot and before an optional trailing one. */
const TOP_LABEL = /\.(?:[a-z0-9]*[a-z][a-z0-9]*|[a-z0-9]+-[a-z0-9-]*[a-z0-9])\.?$/i;
/** RFC 1035 §2.3.4: the longest name. */
const MAX_NAME_LENGTH = 253;

export const isMacroString = (text: string): boolean => MACRO_STRING.test(text);

/** §7.1: a domain-spec ends in a macro, or in a dot and a top label. */
export function isDomainSpec(text: string): boolean {
  const match = MACRO_STRING.exec(text);
  return match !== null && (match[1] !== undefined || TOP_LABEL.test(lastLabel(text)));
}

/** The last label with its dot and an optional trailing dot; at most a name's length, which bounds the work of `TOP_LABEL`. */
function lastLabel(text: string): string {
  const end = text.slice(-MAX_NAME_LENGTH);
  return end.slice(Math.max(0, end.lastIndexOf('.', end.length - 2)));
}

export const hasMacro = (text: string): boolean => text.includes('%');
