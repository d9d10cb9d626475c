// Converts raw items: identity, resolved URL, date, and the domains that they mention.
import { createHash } from 'node:crypto';
import type { FeedItem } from '../feed.ts';
import { resolveAddress, resolveBase } from '../links/addresses.ts';
import { textOfHtml } from '../links/html-text.ts';
import { type LinkReader, namedDomains } from '../links/item-links.ts';
import { parseDate } from './parse-date.ts';
import type { RawItem, RawText } from './raw-feed.ts';

const MAX_TITLE_LENGTH = 300;
/** HTML processed for a title; longer values are not titles. */
const MAX_TITLE_HTML = 2_000;

export interface ItemsOptions {
  readonly reader: LinkReader;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Newest first where dates are known; empty items are skipped, duplicates are dropped. */
export function readItems(raw: readonly RawItem[], { reader, now }: ItemsOptions) {
  const drafts = raw.map((item) => draftOf(item, reader)).filter((draft) => draft !== null);
  const shared = sharedIdentities(drafts);
  const items = new Map<string, FeedItem>();
  for (const { item, base, url, title, identity } of drafts) {
    // The key must not depend on the order of items, which may differ in the next document.
    const key = digest(shared.has(identity) ? `${identity}\n${url}\n${title}` : identity);
    if (items.has(key)) continue;
    const html = [item.title, ...item.texts].flatMap((raw) => {
      return raw?.isHtml === true ? [{ text: raw.text, base: resolveBase(raw.bases ?? [], base) }] : [];
    });
    const publishedAt = item.date === undefined ? null : parseDate(item.date, now);
    const domains = namedDomains({ url, related: item.related, html }, { base, reader });
    items.set(key, { key, url, title, publishedAt, domains });
  }
  return { items: newestFirst([...items.values()]), skipped: raw.length - drafts.length };
}

/** An item with its resolved URL and its identity: its id, else its URL, else its text. */
interface Draft {
  readonly item: RawItem;
  readonly base: string;
  readonly url: string | null;
  readonly title: string | null;
  readonly identity: string;
}

function draftOf(item: RawItem, reader: LinkReader): Draft | null {
  const base = resolveBase([item.base], reader.base);
  const url = item.link === undefined ? null : resolveAddress(item.link, resolveBase([item.linkBase], base));
  const title = plainTitle(item.title);
  const identity = identityOf(item, { url, title });
  return identity === null ? null : { item, base, url, title, identity };
}

function identityOf(item: RawItem, { url, title }: { url: string | null; title: string | null }): string | null {
  if (item.id !== undefined && item.id !== '') return `id\n${item.id}`;
  if (url !== null) return `url\n${url}`;
  const text = item.texts[0]?.text ?? '';
  return title === null && text === '' ? null : `text\n${title}\n${text}`;
}

/** Some feeds give all items the same id, which then does not identify an item. */
function sharedIdentities(drafts: readonly Draft[]): ReadonlySet<string> {
  const first = new Map<string, Draft>();
  const shared = new Set<string>();
  for (const draft of drafts) {
    const other = first.get(draft.identity);
    if (other === undefined) first.set(draft.identity, draft);
    else if (other.url !== draft.url || other.title !== draft.title) shared.add(draft.identity);
  }
  return shared;
}

/** Plain text on one line; null if empty. */
export function plainTitle(title: RawText | undefined): string | null {
  if (title === undefined) return null;
  const text = title.isHtml
    ? textOfHtml(title.text, { maxCharacters: MAX_TITLE_HTML })
    : title.text.slice(0, MAX_TITLE_HTML);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes control characters
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  const cut = line.slice(0, MAX_TITLE_LENGTH);
  // Truncation may split a surrogate pair.
  return cut === '' ? null : cut.toWellFormed();
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** An item without a date keeps its position after the previous one: most feeds are in order. */
function newestFirst(items: readonly FeedItem[]): FeedItem[] {
  let last = Infinity;
  const ordered = items.map((item) => {
    last = item.publishedAt ?? last;
    return { item, time: last };
  });
  // Infinity - Infinity is NaN.
  return ordered.sort((a, b) => (a.time === b.time ? 0 : b.time - a.time)).map(({ item }) => item);
}
