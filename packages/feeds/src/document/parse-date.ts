// Dates as feeds write them: RFC 822 and 2822, ISO 8601 and W3CDTF, asctime, and the American way. `Date` reads some of
// these by the machine's own zone and others wrongly, so that none is left to it.

const MAX_DATE_LENGTH = 80;
/** Items may be older than feeds are; before this lie dates that programs write who have none. */
const EARLIEST = Date.UTC(1901, 0, 1);
const DAY_MS = 86_400_000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Minutes east of UTC. RFC 822's names, and those that feeds of other continents write; IST and BST mean several. */
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

interface Parts {
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  offsetMinutes?: number;
}

/**
 * Milliseconds since the epoch; null for what is no date or lies over a day ahead of `now`. The epoch itself, in any
 * zone, is written for want of a date.
 */
export function parseDate(text: string, now: number): number | null {
  if (text.length > MAX_DATE_LENGTH) return null;
  const clean = text.trim().toLowerCase();
  const time = toTime(readIso(clean) ?? readWords(clean));
  if (time === null || time < EARLIEST || time > now + DAY_MS) return null;
  return Math.abs(time) <= DAY_MS ? null : time;
}

function readIso(text: string): Parts | null {
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

/** Words in any order: names of months and zones, a time, a day before or after its month, a year. */
function readWords(text: string): Parts | null {
  const parts: Parts = {};
  const words = text
    .replace(/([ap])\.m\.?/g, '$1m')
    .replace(/(\d)\s(am|pm)\b/g, '$1$2')
    .split(/[\s,()/]+|(?<=[a-z\d])-(?=[a-z])|(?<=[a-z])-(?=\d{2})/);
  for (const word of words) {
    if (!readWord(word, parts)) return null;
  }
  return parts;
}

function readWord(word: string, parts: Parts): boolean {
  const time = TIME.exec(word);
  if (time !== null) {
    const [, hour, minute, second, half] = time;
    parts.hour = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'pm' ? 12 : 0);
    parts.minute = Number(minute);
    parts.second = Number(second ?? 0);
    return true;
  }
  const number = /^(\d{1,4})(?:st|nd|rd|th)?$/.exec(word)?.[1];
  if (number !== undefined) return readNumber(number, parts);
  const zone = zoneOf(word);
  const month = MONTHS.indexOf(word.slice(0, 3));
  // Names of days, in whatever language, say nothing that the date does not. One that looks like a month (`Mar` is Tuesday from
  // France to Italy) stands before it.
  if (zone !== null) parts.offsetMinutes = zone;
  else if (month !== -1 && (parts.month === undefined || (parts.year === undefined && parts.hour === undefined)))
    parts.month = month + 1;
  return true;
}

/** RFC 2822 §4.3: two digits up to 49 are of this century. */
function readNumber(digits: string, parts: Parts): boolean {
  const value = Number(digits);
  if (digits.length <= 2 && parts.day === undefined) parts.day = value;
  else if (parts.year !== undefined || digits.length === 1) return false;
  else
    parts.year = digits.length === 4 ? value : digits.length === 3 ? 1900 + value : value + (value < 50 ? 2000 : 1900);
  return true;
}

function zoneOf(word: string): number | null {
  const named = Object.hasOwn(ZONES, word) ? ZONES[word] : undefined;
  if (named !== undefined) return named;
  const match = OFFSET.exec(word);
  if (match === null) return null;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === '-' ? -minutes : minutes;
}

/** Null where a part is missing or no calendar has the day. A time without a zone is UTC. */
function toTime(parts: Parts | null): number | null {
  const { year, month, day, hour = 0, minute = 0, second = 0, offsetMinutes = 0 } = parts ?? {};
  if (year === undefined || month === undefined || day === undefined) return null;
  // `Date.UTC` takes years below 100 for those of the last century.
  if (year < 100) return null;
  if (hour > 24 || minute > 59 || second > 60 || Math.abs(offsetMinutes) > 15 * 60) return null;
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return midnight + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1_000;
}
