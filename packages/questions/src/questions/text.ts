// Formats values for the summary lines of answers.

/** `36.3 %` of 0.3633. */
export function percent(share: number | null | undefined): string {
  return typeof share === 'number' ? `${(share * 100).toFixed(1)} %` : 'unknown';
}

/** `38.7` of 38.6998. */
export function tenths(value: number | null): string {
  return value === null ? 'unknown' : value.toFixed(1);
}

/** `2026-11-21 18:57Z`. */
export function moment(time: string | null | undefined): string {
  return time === null || time === undefined ? 'never' : time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, '$1 $2Z');
}

/** Untrusted text, in quotes. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** `+4`, `-7`, `0`. */
export function signed(count: number): string {
  return count > 0 ? `+${count}` : String(count);
}

/** The non-empty parts, joined. */
export function joined(parts: readonly (string | undefined | false | null)[], separator = '; '): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(separator);
}

/** `30` of 30.00000003, `0.5`. */
export const days = (count: number): string => String(Number(count.toFixed(1)));
