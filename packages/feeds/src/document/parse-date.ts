// Dates in feeds: RFC 822 and 2822, ISO 8601 and W3CDTF, asctime, and American formats. `Date` is not used: it reads some of these
// in the local time zone and the rest incorrectly.

const MAX_DATE_LENGTH = 80;
/** Items may be older than feeds; earlier dates are placeholders. */
const EARLIEST = Date.UTC(1901, 0, 1);
const DAY_MS = 86_400_000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Minutes east of UTC. The names of RFC 822, and those common in feeds of other continents; IST and BST are ambiguous. */
const ZONES: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  west: 60,
  bst: 60,
  cet: 60,
  cest: 120,
  met: 60,
  mest: 120,
  eet: 120,
  eest: 180,
  msk: 180,
  jst: 540,
  kst: 540,
  aest: 600,
  aedt: 660,
  nzst: 720,
  nzdt: 780,
  est: -300,
  edt: -240,
  cst: -360,
  cdt: -300,
  mst: -420,
  mdt: -360,
  pst: -480,
  pdt: -420,
  akst: -540,
  akdt: -480,
  hst: -600,
};

const ISO =
  /^(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[t ]{1,2}(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d{1,9})?)?)?)?)?\s?(z|utc|gmt|[+-]\d\d:?(?:\d\d)?)?$/;
const TIME = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(am|pm)?$/;
const OFFSET = /^(?:utc|gmt|ut)?([+-])(\d{1,2}):?(\d\d)?$/;

interface DateFields {
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  offsetMinutes?: number;
}

/**
 * Milliseconds since the epoch; null for an invalid date or one more than a day after `now`. The epoch itself, in any zone, is a
 * placeholder for a missing date.
 */
export function parseDate(text: string, now: number): number | null {
  if (text.length > MAX_DATE_LENGTH) return null;
  const clean = text.trim().toLowerCase();
  const time = toTime(readIso(clean) ?? readTokens(clean));
  if (time === null || time < EARLIEST || time > now + DAY_MS) return null;
  return Math.abs(time) <= DAY_MS ? null : time;
}

function readIso(text: string): DateFields | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, zone] = match;
  return {
    year: Number(year),
    month: Number(month ?? 1),
    day: Number(day ?? 1),
    hour: Number(hour ?? 0),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    offsetMinutes: zoneOf(zone ?? 'z') ?? 0,
  };
}

/** Tokens in any order: names of months and zones, a time, a day before or after its month, a year. */
function readTokens(text: string): DateFields | null {
  const fields: DateFields = {};
  const tokens = text
    .replace(/([ap])\.m\.?/g, '$1m')
    .replace(/(\d)\s(am|pm)\b/g, '$1$2')
    .split(/[\s,()/]+|(?<=[a-z\d])-(?=[a-z])|(?<=[a-z])-(?=\d{2})/);
  for (const token of tokens) {
    if (!readToken(token, fields)) return null;
  }
  return fields;
}

function readToken(token: string, fields: DateFields): boolean {
  const time = TIME.exec(token);
  if (time !== null) {
    const [, hour, minute, second, half] = time;
    fields.hour = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'pm' ? 12 : 0);
    fields.minute = Number(minute);
    fields.second = Number(second ?? 0);
    return true;
  }
  const number = /^(\d{1,4})(?:st|nd|rd|th)?$/.exec(token)?.[1];
  if (number !== undefined) return readNumber(number, fields);
  const zone = zoneOf(token);
  const month = MONTHS.indexOf(token.slice(0, 3));
  // Names of days, in any language, are ignored. One that equals a month (`Mar` is Tuesday in French and Italian) comes before the
  // month.
  if (zone !== null) fields.offsetMinutes = zone;
  else if (month !== -1 && (fields.month === undefined || (fields.year === undefined && fields.hour === undefined)))
    fields.month = month + 1;
  return true;
}

/** RFC 2822 §4.3: two digits up to 49 belong to this century. */
function readNumber(digits: string, fields: DateFields): boolean {
  const value = Number(digits);
  if (digits.length <= 2 && fields.day === undefined) fields.day = value;
  else if (fields.year !== undefined || digits.length === 1) return false;
  else
    fields.year = digits.length === 4 ? value : digits.length === 3 ? 1900 + value : value + (value < 50 ? 2000 : 1900);
  return true;
}

function zoneOf(token: string): number | null {
  const named = Object.hasOwn(ZONES, token) ? ZONES[token] : undefined;
  if (named !== undefined) return named;
  const match = OFFSET.exec(token);
  if (match === null) return null;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === '-' ? -minutes : minutes;
}

/** Null if a field is missing or the day does not exist. A time without a zone is UTC. */
function toTime(fields: DateFields | null): number | null {
  const { year, month, day, hour = 0, minute = 0, second = 0, offsetMinutes = 0 } = fields ?? {};
  if (year === undefined || month === undefined || day === undefined) return null;
  // `Date.UTC` maps years below 100 to the previous century.
  if (year < 100) return null;
  if (hour > 24 || minute > 59 || second > 60 || Math.abs(offsetMinutes) > 15 * 60) return null;
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return midnight + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1_000;
}
