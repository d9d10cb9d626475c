// Formats numbers and times in the user's locale. Unknown values are shown as a dash, never as 0.
import { SECTOR_NAMES } from '@strata/client';

const UNKNOWN = '–';

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

type NumberFormatter = (value: number | null | undefined) => string;

function numberFormatter(options: Intl.NumberFormatOptions): NumberFormatter {
  const format = new Intl.NumberFormat(undefined, options);
  return (value) => (value === null || value === undefined ? UNKNOWN : format.format(value));
}

/** `12,345`. */
export const formatNumber = numberFormatter({});
/** `12,345`, rounded to an integer. */
export const formatRounded = numberFormatter({ maximumFractionDigits: 0 });
/** `12.3`, for means and scores. */
export const formatDecimal = numberFormatter({ maximumFractionDigits: 1 });
/** `12.3K`, where precision is not needed. */
export const formatCompact = numberFormatter({ notation: 'compact', maximumFractionDigits: 1 });
/** `+12`, `−3`, `0`. */
export const formatChange = numberFormatter({ signDisplay: 'exceptZero' });
/** A fraction from 0 to 1 as `12.3%`. */
export const formatShare = numberFormatter({ style: 'percent', maximumFractionDigits: 1 });

/** `1 domain`, `12 domains`. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** The UTC day of an ISO 8601 time: statistics are counted in UTC days. */
export const formatDay = (iso: string | null | undefined): string => (iso ? day.format(new Date(iso)) : UNKNOWN);

/** An ISO 8601 time, or milliseconds since the epoch, in the local time zone. */
export const formatTime = (at: string | number | null | undefined): string =>
  at ? moment.format(new Date(at)) : UNKNOWN;

/** Hours, minutes and seconds in the local time zone. */
export const formatClock = (at: string | number): string => clock.format(new Date(at));

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 days ago`, `in 2 hours`. */
export function formatAgo(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1_000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return relative.format(Math.round(seconds / size), unit);
}

/** `certificate_authority` as `Certificate authority`. */
export function formatName(name: string): string {
  const text = nameInText(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `certificate_authority` as `certificate authority`. */
export const nameInText = (name: string): string => NAMES[name] ?? name.replaceAll('_', ' ');

const NAMES: Readonly<Record<string, string>> = {
  ...SECTOR_NAMES,
  dns: 'DNS',
  cdn: 'CDN',
  dmarc_reports: 'DMARC reporting',
  waf: 'web application firewall',
  dns_integrity: 'DNS integrity',
  dns_redundancy: 'DNS redundancy',
  // Roles, as the answers label them.
  mailbox: 'mailboxes',
  gateway: 'mail gateway',
  forwarding: 'mail forwarding',
  sender: 'mail sending',
  origin: 'hosting',
  edge: 'CDN',
  protection: 'DDoS protection',
  verified: 'verified account',
  issuer: 'certificate authority',
  platform: 'web software',
  bot_protection: 'bot protection and CAPTCHA',
};

/** The last characters of a peer id, since all ids begin alike. */
export const formatPeer = (peer: string): string => (peer.length > 12 ? `…${peer.slice(-6)}` : peer);
