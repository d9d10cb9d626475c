// The time that a sentence names: `since yesterday`, `last week`, `in the last 7 days`, `between 2026-11-01 and 2026-11-10`. Pure, and linear in
// the number of words.
import { UNREAD_WORDS, VAGUE_WORDS } from './conditions/condition-words.ts';
import type { Word } from './words.ts';

/** Parameters of the API: UTC dates, the last one included, or an age such as `7d`. */
export interface TimeWindow {
  readonly since: string;
  readonly until?: string;
}

export interface Time {
  /** As it is written. */
  readonly text: string;
  /** Undefined for a time that cannot be read. */
  readonly window: TimeWindow | undefined;
}

/** Inclusive dates, or up to now. */
interface Period {
  readonly since: string;
  readonly until: string | undefined;
  readonly length: number;
}

const DAY_MS = 86_400_000;
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const UNITS: Readonly<Record<string, number>> = { hour: 1, day: 24, week: 168, month: 720, year: 8_760 };
/** Before a time: `may` and `2026` alone are no times. */
const LINKS = new Set('since after from between until before to and in during of on within over last'.split(' '));
const MAX_AGE = 99_999;

const RANGES = new Set(['from', 'between', 'since']);

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The time in a sentence, if there is one, and the words without it; `since` stays, which also names a topic. */
export function timeIn(
  words: readonly Word[],
  now = new Date(),
): { readonly time: Time | undefined; readonly rest: readonly Word[] } {
  const lower = words.map((word) => word.lower);
  for (const at of lower.keys()) {
    const first = periodAt(lower, at, now);
    if (!first) continue;
    const link = lower[at - 1] ?? '';
    const isRange = RANGES.has(link) && ['and', 'to', 'until'].includes(lower[at + first.length] ?? '');
    const second = isRange ? periodAt(lower, at + first.length + 1, now) : undefined;
    const start = LINKS.has(link) ? at - 1 : at;
    const end = at + first.length + (second ? second.length + 1 : 0);
    const rest = [...words.slice(0, link === 'since' ? at : start), ...words.slice(end)];
    const text = textOf(words.slice(start, end));
    // A second time would change the answer.
    const isUnclear =
      ['until', 'before', 'after'].includes(link) || lower.some((_, i) => i >= end && periodAt(lower, i, now));
    return { time: { text, window: isUnclear ? undefined : windowOf(first, second, link) }, rest };
  }
  const since = lower.indexOf('since');
  const other = lower.findIndex((word) => UNREAD_WORDS.has(word) && !VAGUE_WORDS.has(word));
  if (since < 0 && other < 0) return { time: undefined, rest: words };
  const unread = since < 0 ? words.slice(other, other + 1) : words.slice(since, since + 3);
  return { time: { text: textOf(unread), window: undefined }, rest: words };
}

const textOf = (words: readonly Word[]): string => words.map(({ raw }) => raw).join(' ');

function windowOf({ since, until }: Period, second: Period | undefined, link: string): TimeWindow {
  const end = second ? second.until : link === 'since' ? undefined : until;
  return end === undefined ? { since } : { since, until: end };
}

function periodAt(words: readonly string[], at: number, now: Date): Period | undefined {
  const [word = '', next = '', third = ''] = words.slice(at, at + 3);
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  if (word === 'today') return { ...daysFrom(today, 1), length: 1 };
  if (word === 'yesterday') return { ...daysFrom(today - DAY_MS, 1), length: 1 };
  if (/^\d{4}-\d{2}(?:-\d{2})?$/.test(word)) return isDate(word) ? { since: word, until: word, length: 1 } : undefined;
  const isLast = ['last', 'past', 'previous'].includes(word);
  const age = isLast ? ageOf(next, third) : third === 'ago' ? ageOf(word, next) : undefined;
  if (age !== undefined) return { since: age, until: undefined, length: 3 };
  if (isLast || word === 'this') {
    const isRolling = isLast && (word === 'past' || words[at - 1] === 'the');
    const rolling = isRolling ? ageOf('1', next) : undefined;
    if (rolling !== undefined) return { since: rolling, until: undefined, length: 2 };
    const period = calendarPeriod(next, today, isLast ? -1 : 0);
    return period && { ...period, length: 2 };
  }
  return namedMonth(words, at, now);
}

const daysFrom = (start: number, days: number) => ({
  since: dateOf(start),
  until: dateOf(start + (days - 1) * DAY_MS),
});

/** `7d` of `7 days`; months have 30 days. */
function ageOf(count: string, unit: string): string | undefined {
  const name = unit.endsWith('s') ? unit.slice(0, -1) : unit;
  if (!/^\d{1,5}$/.test(count) || !Object.hasOwn(UNITS, name)) return undefined;
  const hours = Number(count) * (UNITS[name] ?? 0);
  if (hours === 0 || hours > MAX_AGE) return undefined;
  return name === 'hour' ? `${hours}h` : `${hours / 24}d`;
}

/** The current one, or the one before it; a week begins on Monday. */
function calendarPeriod(unit: string, today: number, offset: 0 | -1): Omit<Period, 'length'> | undefined {
  const day = new Date(today);
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()];
  if (unit === 'week') return daysFrom(today + (offset * 7 - ((day.getUTCDay() + 6) % 7)) * DAY_MS, 7);
  const [since, end] =
    unit === 'month'
      ? [Date.UTC(year, month + offset), Date.UTC(year, month + offset + 1)]
      : [Date.UTC(year + offset, 0), Date.UTC(year + offset + 1, 0)];
  return unit === 'month' || unit === 'year' ? { since: dateOf(since), until: dateOf(end - 1) } : undefined;
}

/** `March`, `28 November 2026`, `November 28`, `2026`; without a year the last one that has begun. */
function namedMonth(words: readonly string[], at: number, now: Date): Period | undefined {
  if (!LINKS.has(words[at - 1] ?? '')) return undefined;
  const numberAt = (index: number) => /^\d{1,4}$/.exec(words[index] ?? '')?.[0];
  const isYear = (text: string | undefined) => text !== undefined && /^(?:19|20)\d\d$/.test(text);
  const first = numberAt(at);
  if (isYear(first)) return { since: `${first}-01`, until: `${first}-12`, length: 1 };
  const monthAt = first === undefined ? at : at + 1;
  const month = MONTHS.indexOf(words[monthAt] ?? '') + 1;
  if (month === 0) return undefined;
  const isDayNext = first === undefined && (numberAt(monthAt + 1)?.length ?? 4) < 3;
  const day = first ?? (isDayNext ? numberAt(monthAt + 1) : undefined);
  const yearAt = monthAt + (isDayNext ? 2 : 1);
  const named = isYear(numberAt(yearAt)) ? numberAt(yearAt) : undefined;
  const dateIn = (year: string | number) =>
    [year, String(month).padStart(2, '0'), ...(day === undefined ? [] : [day.padStart(2, '0')])].join('-');
  const current = now.getUTCFullYear();
  const date = dateIn(named ?? (dateIn(current) > dateOf(now.getTime()) ? current - 1 : current));
  return isDate(date) ? { since: date, until: date, length: yearAt + (named ? 1 : 0) - at } : undefined;
}

/** A month or a date that exists. */
function isDate(text: string): boolean {
  const date = new Date(`${text.length === 7 ? `${text}-01` : text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Whether a moment, in UTC, is in a window. */
export function isWithin(at: string, { since, until }: TimeWindow, now = Date.now()): boolean {
  const [, count, unit] = /^(\d+)([dh])$/.exec(since) ?? [];
  const start = count ? new Date(now - Number(count) * (unit === 'h' ? 1 : 24) * 3_600_000).toISOString() : since;
  return at >= start && (until === undefined || at.slice(0, until.length) <= until);
}

/** `in the last 7 days` of `since` 7d. */
export function windowText({ since, until }: TimeWindow): string {
  const [, count, unit] = /^(\d+)([dh])$/.exec(since) ?? [];
  if (count) return `in the last ${count} ${unit === 'h' ? 'hours' : 'days'}`;
  return until === undefined ? `since ${since}` : since === until ? `in ${since}` : `from ${since} to ${until}`;
}
