// Sanitises untrusted text and times so that they can be stored, signed and shown.

/** Longer text is truncated before any processing. */
const MAX_TEXT = 100_000;
const MAX_TITLE = 300;
const MAX_SUMMARY = 2_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes control characters
const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** On one line, without invisible characters, at most `maxLength` UTF-16 units. */
export function oneLine(text: string, maxLength: number): string {
  const clean = text.slice(0, MAX_TEXT).replace(CONTROL_CHARACTERS, '').replace(/\s+/g, ' ').trim();
  return cut(clean, maxLength);
}

/** One line of at most 300 characters; null if nothing is left. */
export function titleOf(text: string | null | undefined): string | null {
  return oneLine(text ?? '', MAX_TITLE) || null;
}

/** Keeps lines and paragraphs, at most 2,000 characters; null if nothing is left. */
export function summaryOf(text: string | null | undefined): string | null {
  const lines = (text ?? '')
    .slice(0, MAX_TEXT)
    .replace(CONTROL_CHARACTERS, '')
    .split(/\r\n|\r|\n/);
  const clean = lines.map((line) => line.replace(/\s+/g, ' ').trim()).join('\n');
  return cut(clean.replace(/\n{3,}/g, '\n\n').trim(), MAX_SUMMARY) || null;
}

/** The English text of several languages, or the first one. */
export function englishOf(
  texts: readonly { readonly lang: string; readonly value: string }[] | undefined,
): string | undefined {
  return (texts?.find(({ lang }) => /^en/i.test(lang)) ?? texts?.[0])?.value;
}

/**
 * ISO 8601 in UTC with `Z`; a time without a zone is UTC, as in NVD and old CVE records. Undefined if it is invalid.
 */
export function utcTime(text: string): string | undefined {
  const zone = TIME.exec(text);
  if (zone === null) return undefined;
  const hasNoZone = text.includes('T') && zone[1] === undefined;
  const ms = Date.parse(hasNoZone ? `${text}Z` : text);
  const time = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return time.length === '2026-01-31T00:00:00.000Z'.length ? time : undefined;
}

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed();
  const head = text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '');
  return `${head.trimEnd()}…`.toWellFormed();
}
