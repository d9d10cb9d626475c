// Shortens an answer to a size suitable for an agent, and reports what was left out. The receipt is of the complete answer.
import { plainText } from './plain-text.ts';

/** Items that were cut from the lists at a path such as `services[].evidence`. */
export interface LeftOut {
  readonly at: string;
  readonly items: number;
}

export interface Shortened {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly leftOut: readonly LeftOut[];
  /** Of the longest paged list: items in the answer, and items after them. */
  readonly shown: number;
  readonly remaining: number;
}

/** A page of the lists at paths such as `domains.results` and `categories[].providers`. */
export interface Page {
  readonly lists: readonly string[];
  readonly limit: number;
  /** Offset in the received list: 0 where the service has applied it already. */
  readonly offset: number;
}

export interface ShortenOptions {
  readonly page?: Page;
  /** Maximum items of lists by their last name: `{ evidence: 2 }`. */
  readonly max?: Readonly<Record<string, number>>;
  /** Paths of fields that are left out: `services[].kinds`. */
  readonly hidden?: readonly string[];
}

/** For lists without a limit of their own; halved until the answer fits. */
const MAX_ITEMS = 24;
const MIN_ITEMS = 3;
/** About 6,000 tokens. */
export const MAX_CHARACTERS = 24_000;
const MAX_TEXT = 300;
/** Used where cutting lists is not sufficient. */
const MIN_TEXT = 80;

/** Fields of an object, and entries of `leftOut`; answers of the service have far fewer. */
const MAX_FIELDS = 200;
const MAX_LEFT_OUT = 20;
/** Characters of a path into the answer, which bounds the nesting. */
const MAX_PATH = 400;

/** Lists of days, oldest first, of which the last items are kept. */
const DAYS = new Set(['curve', 'per_day']);

/** The notice is part of the instructions; the receipt and the cursor are separate fields of the result. */
const OMITTED = new Set(['_alpha', '_notice', 'provenance', 'next_cursor']);

/**
 * Cuts lists and texts until the answer fits, and reduces each text to one line without invisible characters. An answer that cannot be cut
 * far enough is left out completely; answers of the service can.
 */
export function shorten(answer: unknown, { page, max = {}, hidden = [] }: ShortenOptions = {}): Shortened {
  let items = MAX_ITEMS;
  let textLength = MAX_TEXT;
  for (;;) {
    const leftOut = new Map<string, number>();
    const cut: Cut = { page, max, hidden, items, textLength, leftOut, shown: 0, remaining: 0 };
    const shortened = shortenObject(Object(answer) as Readonly<Record<string, unknown>>, '', cut);
    const isShort = JSON.stringify(shortened).length <= MAX_CHARACTERS;
    if (isShort) {
      const { shown, remaining } = cut;
      const reported = [...leftOut]
        .slice(0, MAX_LEFT_OUT)
        .map(([at, count]) => ({ at: shortText(at, MIN_TEXT), items: count }));
      return { answer: shortened, leftOut: reported, shown, remaining };
    }
    if (items === MIN_ITEMS && textLength === MIN_TEXT)
      return { answer: {}, leftOut: [{ at: 'the complete answer', items: 1 }], shown: 0, remaining: 0 };
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
  remaining: number;
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
    if (OMITTED.has(name) || cut.hidden.includes(path)) continue;
    fields.push([shortText(name, MIN_TEXT), shortenValue(field, path, cut)]);
  }
  const shortened = Object.fromEntries(fields);
  // Events in a list have receipts of their own.
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
  // A requested page is cut only where the answer is too large.
  const length = isPage ? Math.min(page?.limit ?? items, items * 4) : (set ?? items);
  const start = isPage ? (page?.offset ?? 0) : DAYS.has(name) ? Math.max(0, list.length - length) : 0;
  const kept = list.slice(start, start + length);
  const missing = Math.max(0, list.length - kept.length - (isPage ? start : 0));
  if (isPage) {
    cut.shown = Math.max(cut.shown, kept.length);
    cut.remaining = Math.max(cut.remaining, missing);
  } else if (missing > 0) leftOut.set(at, (leftOut.get(at) ?? 0) + missing);
  return kept.map((item) => shortenValue(item, `${at}[]`, cut));
}

/** One line of at most `max` characters, with the number of characters that were cut. */
export function shortText(text: string, max: number): string {
  const plain = plainText(text);
  return plain.length <= max ? plain : `${plain.slice(0, max).toWellFormed()}… (+${plain.length - max} characters)`;
}
