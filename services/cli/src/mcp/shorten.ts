// An answer cut to what an agent can afford to read, and what was left out of it. The receipt is of the whole answer.
import { plainText } from '../output.ts';

/** Items that were cut from lists of one place, such as `services[].evidence`. */
export interface LeftOut {
  readonly at: string;
  readonly items: number;
}

export interface Shortened {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly leftOut: readonly LeftOut[];
  /** Of the longest list of the page: items that are in the answer, and that came after them and are not. */
  readonly shown: number;
  readonly behind: number;
}

/** A part of lists; paths such as `domains.results` and `categories[].providers` lead to them. */
export interface Page {
  readonly lists: readonly string[];
  readonly limit: number;
  /** Of the list as it came: 0 where the service has skipped already. */
  readonly offset: number;
}

export interface ShortenOptions {
  readonly page?: Page;
  /** Items of lists that have a word to say on it, by their last name: `{ evidence: 2 }`. */
  readonly max?: Readonly<Record<string, number>>;
  /** Fields that are left out, by their path: `services[].kinds`. */
  readonly hidden?: readonly string[];
}

/** Of lists that nobody has set a limit to; halved until the answer fits. */
const MAX_ITEMS = 24;
const MIN_ITEMS = 3;
/** About 6,000 tokens. */
export const MAX_CHARACTERS = 24_000;
const MAX_TEXT = 300;
/** Of a text where lists alone could not be cut far enough. */
const MIN_TEXT = 80;

/** Of an object, and of what was left out; answers of the service have far fewer. */
const MAX_FIELDS = 200;
const MAX_LEFT_OUT = 20;
/** Characters of a path into the answer, so that what is nested without an end is cut off. */
const MAX_PATH = 400;

/** Lists of days, oldest first: their end says more than their beginning. */
const DAYS = new Set(['curve', 'per_day']);

/** Said once for all answers, in the instructions; the receipt is told apart from the answer. */
const TOLD_ELSEWHERE = new Set(['_alpha', '_notice', 'provenance']);

/**
 * Cuts lists and texts until the answer fits, and makes each text one line without characters that cannot be seen. What cannot
 * be cut so far, as no answer of the service is, is left out whole.
 */
export function shorten(answer: unknown, { page, max = {}, hidden = [] }: ShortenOptions = {}): Shortened {
  let items = MAX_ITEMS;
  let textLength = MAX_TEXT;
  for (;;) {
    const leftOut = new Map<string, number>();
    const cut: Cut = { page, max, hidden, items, textLength, leftOut, shown: 0, behind: 0 };
    const shortened = shortenObject(Object(answer) as Readonly<Record<string, unknown>>, '', cut);
    const isShort = JSON.stringify(shortened).length <= MAX_CHARACTERS;
    if (isShort) {
      const { shown, behind } = cut;
      const told = [...leftOut]
        .slice(0, MAX_LEFT_OUT)
        .map(([at, count]) => ({ at: shortText(at, MIN_TEXT), items: count }));
      return { answer: shortened, leftOut: told, shown, behind };
    }
    if (items === MIN_ITEMS && textLength === MIN_TEXT)
      return { answer: {}, leftOut: [{ at: 'the whole answer', items: 1 }], shown: 0, behind: 0 };
    if (items === MIN_ITEMS) textLength = MIN_TEXT;
    items = Math.max(MIN_ITEMS, Math.floor(items / 2));
  }
}

interface Cut {
  readonly page: Page | undefined;
  readonly max: Readonly<Record<string, number>>;
  readonly hidden: readonly string[];
  readonly items: number;
  readonly textLength: number;
  readonly leftOut: Map<string, number>;
  shown: number;
  behind: number;
}

function shortenValue(value: unknown, at: string, cut: Cut): unknown {
  if (typeof value === 'string') return shortText(value, cut.textLength);
  if (at.length > MAX_PATH) return null;
  if (Array.isArray(value)) return shortenList(value, at, cut);
  return typeof value === 'object' && value !== null
    ? shortenObject(value as Readonly<Record<string, unknown>>, at, cut)
    : value;
}

function shortenObject(value: Readonly<Record<string, unknown>>, at: string, cut: Cut): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value).slice(0, MAX_FIELDS)) {
    const path = at === '' ? name || '.' : `${at}.${name}`;
    if (TOLD_ELSEWHERE.has(name) || cut.hidden.includes(path)) continue;
    fields.push([shortText(name, MIN_TEXT), shortenValue(field, path, cut)]);
  }
  const shortened = Object.fromEntries(fields);
  // Events in a list are signed one by one.
  const { receipt_id } = Object(value.provenance) as { readonly receipt_id?: unknown };
  return at !== '' && typeof receipt_id === 'string'
    ? { ...shortened, receipt_id: shortText(receipt_id, MIN_TEXT) }
    : shortened;
}

function shortenList(list: readonly unknown[], at: string, cut: Cut): unknown[] {
  const { page, max, items, leftOut } = cut;
  const name = at.slice(at.lastIndexOf('.') + 1);
  const isPage = page?.lists.includes(at) ?? false;
  const set = Object.hasOwn(max, name) ? max[name] : undefined;
  // What was asked for comes whole unless it is too much.
  const length = isPage ? Math.min(page?.limit ?? items, items * 4) : (set ?? items);
  const start = isPage ? (page?.offset ?? 0) : DAYS.has(name) ? Math.max(0, list.length - length) : 0;
  const kept = list.slice(start, start + length);
  const missing = Math.max(0, list.length - kept.length - (isPage ? start : 0));
  if (isPage) {
    cut.shown = Math.max(cut.shown, kept.length);
    cut.behind = Math.max(cut.behind, missing);
  } else if (missing > 0) leftOut.set(at, (leftOut.get(at) ?? 0) + missing);
  return kept.map((item) => shortenValue(item, `${at}[]`, cut));
}

/** One line of at most so many characters; what is cut is counted. */
export function shortText(text: string, max: number): string {
  const plain = plainText(text);
  return plain.length <= max ? plain : `${plain.slice(0, max).toWellFormed()}… (+${plain.length - max} characters)`;
}
