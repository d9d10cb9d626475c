// Reads subscription lists: OPML, or one URL a line; and the feeds that a web page announces.

import { open } from 'node:fs/promises';
import { announcedFeeds, readOpml } from '@strata/feeds';
import { StartError } from '@strata/http';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import { startErrorOf } from '../start-error.ts';
import { MAX_URL, type NewFeed, type Store } from '../store/index.ts';

export type ReadAddress =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly message: string };

export interface Subscriptions {
  /** Without duplicates. */
  readonly feeds: readonly NewFeed[];
  /** Invalid entries, with the line number for lists with lines. */
  readonly rejected: readonly { readonly line: number | null; readonly text: string; readonly message: string }[];
}

/** About a hundred thousand feeds. */
export const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** Maximum length of a line with a URL and a comment. */
const MAX_LINE = 2 * MAX_URL;

/** The normalized URL of a feed: http or https, without a fragment. `feed:` URLs are converted. */
export function feedAddress(text: string): ReadAddress {
  const reject = (message: string): ReadAddress => ({ ok: false, message });
  const trimmed = text.trim();
  if (trimmed.length > MAX_URL) return reject(`a URL has at most ${MAX_URL} characters`);
  const url = URL.parse(trimmed.replace(/^feed:(?:\/\/)?(?=https?:\/\/)/i, '').replace(/^feed:\/\//i, 'https://'));
  if (!url) return reject('this is not a URL; use the form https://example.com/feed.xml');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return reject('only http and https URLs are polled');
  if (url.username !== '' || url.password !== '') return reject('a URL with a user name or password is not accepted');
  if (!['', '80', '443'].includes(url.port)) return reject('only ports 80 and 443 are permitted');
  url.hash = '';
  if (url.href.length > MAX_URL) return reject(`a URL has at most ${MAX_URL} characters`);
  return { ok: true, url: url.href };
}

/** An entry for messages, without user name and password. */
export function withoutCredentials(text: string): string {
  // Longer text is not processed: backtracking is quadratic, and the end of a password is ambiguous.
  if (text.length > MAX_LINE) return '(too long to show)';
  return text.replace(/^(\s*(?:feed:)?(?:[a-z][a-z0-9+.-]*:)?)([/\\]*)[^/\\?#]*@/i, '$1$2***@');
}

/** Reads a list; invalid lines are reported and skipped. `problem` is set for an unreadable OPML document. */
export function readSubscriptions(text: string): Subscriptions & { readonly problem?: string } {
  // `trimStart` removes a byte order mark.
  return text.trimStart().startsWith('<') ? readOutlines(text) : readLines(text);
}

function readOutlines(text: string): Subscriptions & { readonly problem?: string } {
  const opml = readOpml(text);
  if (!opml.ok) return { feeds: [], rejected: [], problem: opml.problem };
  const collected = new Collected();
  for (const { url, title, siteUrl } of opml.feeds) collected.take(url, { line: null, title, siteUrl });
  const { feeds, rejected } = collected;
  const more = { line: null, text: `${opml.skipped} more`, message: 'outlines without a feed URL' };
  return { feeds, rejected: opml.skipped > 0 ? [...rejected, more] : rejected };
}

function readLines(text: string): Subscriptions {
  const collected = new Collected();
  for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
    const text = line.replace(/^\uFEFF/, '').trim();
    if (text === '' || text.startsWith('#')) continue;
    // A `#` after a blank begins a comment. Only in short lines: the split is quadratic in blanks.
    const [address = ''] = text.length > MAX_LINE ? [text] : text.split(/\s+#/, 1);
    collected.take(address, { line: at + 1 });
  }
  return collected;
}

class Collected {
  readonly #known = new Set<string>();
  readonly feeds: NewFeed[] = [];
  readonly rejected: Subscriptions['rejected'][number][] = [];

  take(text: string, { line, ...known }: { readonly line: number | null } & Omit<NewFeed, 'url'>): void {
    const address = feedAddress(text);
    if (!address.ok) {
      const shown = withoutCredentials(text).slice(0, 100).toWellFormed();
      this.rejected.push({ line, text: shown, message: address.message });
    } else if (!this.#known.has(address.url)) {
      this.#known.add(address.url);
      this.feeds.push({ url: address.url, ...known });
    }
  }
}

/**
 * Adds new feeds of the configured file: feeds that were given up or moved keep their state. The service does not start with an
 * unreadable list.
 */
export async function importSubscriptions(
  file: string,
  { store, logger, now }: { readonly store: Pick<Store, 'feeds'>; readonly logger: Logger; readonly now: () => Date },
): Promise<void> {
  const text = await readListFile(file).catch((cause: unknown) => {
    throw startErrorOf(cause, { doing: `read the feeds of ${file}`, advice: 'see file= of STRATA_FEEDS' });
  });
  const { feeds, rejected, problem } = readSubscriptions(text);
  if (problem !== undefined)
    throw new StartError(`cannot read the feeds of ${file}: ${problem}; see file= of STRATA_FEEDS`);
  const { added, known } = await store.feeds.add(feeds, now(), { isReviving: false });
  logger.info({ file, added, known, rejected: rejected.length }, 'feeds imported');
}

/** The complete file, up to the size limit. */
export async function readListFile(file: string): Promise<string> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  if (size > MAX_LIST_BYTES) throw new StartError(`${file} is larger than ${MAX_LIST_BYTES / 2 ** 20} MiB`);
  return await handle.readFile('utf8');
}

const MAX_BYTES = 512 * 1_024;
const TIMEOUT_MS = 8_000;

/** The feeds that a page announces; undefined if it is not a web page, or could not be fetched. */
export async function feedsOfPage(
  fetcher: Pick<Fetcher, 'fetch'>,
  url: string,
): Promise<readonly string[] | undefined> {
  const answer = await fetcher.fetch(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  if (answer.kind !== 'answered' || answer.status !== 200) return undefined;
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)/i.test(answer.headers['content-type'] ?? '');
  const text = answer.body.toString('utf8');
  // Feeds are served with any type: the beginning of the document decides.
  const isPage = isHtml && !/^\s{0,1000}(?:<\?xml|<rss|<feed|<rdf|\{)/i.test(text);
  return isPage ? announcedFeeds(text, answer.url) : undefined;
}
