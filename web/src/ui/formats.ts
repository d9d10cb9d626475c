// Formats numbers and times in the user's locale. Unknown values are shown as a dash, never as 0.
const UNKNOWN = '–';

const integer = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const signed = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** `12,345`. */
export function formatNumber(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : integer.format(value);
}

/** `12.3`, for means and scores. */
export function formatDecimal(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : decimal.format(value);
}

/** `12.3K`, where precision is not needed. */
export function formatCompact(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : compact.format(value);
}

/** `+12`, `−3`, `0`. */
export function formatChange(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : signed.format(value);
}

/** A fraction from 0 to 1 as `12.3%`. */
export function formatShare(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : share.format(value);
}

/** The UTC day of an ISO 8601 time: statistics are counted in UTC days. */
export function formatDay(iso: string | null | undefined): string {
  return iso ? day.format(new Date(iso)) : UNKNOWN;
}

/** An ISO 8601 time in the local time zone. */
export function formatTime(iso: string | null | undefined): string {
  return iso ? moment.format(new Date(iso)) : UNKNOWN;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 days ago`, `in 2 hours`. */
export function formatAgo(iso: string, now: number = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1_000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return relative.format(Math.round(seconds / size), unit);
}

/** `certificate_authority` as `Certificate authority`. */
export function formatName(name: string): string {
  const text = name.replaceAll('_', ' ');
  return SHORT_NAMES[name] ?? text.charAt(0).toUpperCase() + text.slice(1);
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  dns: 'DNS',
  cdn: 'CDN',
  dns_integrity: 'DNS integrity',
  dns_redundancy: 'DNS redundancy',
};

/** The last characters of a peer id, since all ids begin alike. */
export const formatPeer = (peer: string): string => (peer.length > 12 ? `…${peer.slice(-6)}` : peer);
