// Subscriptions as people keep them: OPML, or one address a line.

import { open } from 'node:fs/promises';
import { announcedFeeds, readOpml } from '@strata/feeds';
import type { Fetcher } from '@strata/scan';
import { MAX_URL, type NewFeed, type Store } from '@strata/store';
import type { Logger } from 'pino';
import { StartError, startErrorOf } from '../start-error.ts';

export type ReadAddress =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly message: string };

export interface Subscriptions {
  /** Each address once. */
  readonly feeds: readonly NewFeed[];
  /** What is no address, with its line where the list has lines. */
  readonly rejected: readonly { readonly line: number | null; readonly text: string; readonly message: string }[];
}

/** A list of this many bytes has some hundred thousand feeds. */
export const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** Longest line that may have an address and a comment. */
const MAX_LINE = 2 * MAX_URL;

/** The address of a feed as it is kept: http or https, without a fragment. `feed:` addresses are those of the web. */
export function feedAddress(text: string): ReadAddress {
  const refuse = (message: string): ReadAddress => ({ ok: false, message });
  const trimmed = text.trim();
  if (trimmed.length > MAX_URL) return refuse(`an address has at most ${MAX_URL} characters`);
  const url = URL.parse(trimmed.replace(/^feed:(?:\/\/)?(?=https?:\/\/)/i, '').replace(/^feed:\/\//i, 'https://'));
  if (!url) return refuse('this is no address; give one such as https://example.com/feed.xml');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('only http and https addresses are polled');
  if (url.username !== '' || url.password !== '') return refuse('an address with a name or password is not kept');
  if (!['', '80', '443'].includes(url.port)) return refuse('only ports 80 and 443 are asked');
  url.hash = '';
  if (url.href.length > MAX_URL) return refuse(`an address has at most ${MAX_URL} characters`);
  return { ok: true, url: url.href };
}

/** What was given as an address, to be shown: the name and password of one that has them are nobody's business. */
export function withoutCredentials(text: string): string {
  // Blanks and colons are tried one by one, and where a password ends in such a text nobody knows.
  if (text.length > MAX_LINE) return '(too long to be shown)';
  return text.replace(/^(\s*(?:feed:)?(?:[a-z][a-z0-9+.-]*:)?)([/\\]*)[^/\\?#]*@/i, '$1$2***@');
}

/** Reads a list; a bad line is reported, never fatal. `problem` is set for an OPML document that cannot be read at all. */
export function readSubscriptions(text: string): Subscriptions & { readonly problem?: string } {
  // A byte order mark counts as a blank.
  return text.trimStart().startsWith('<') ? readOutlines(text) : readLines(text);
}

function readOutlines(text: string): Subscriptions & { readonly problem?: string } {
  const opml = readOpml(text);
  if (!opml.ok) return { feeds: [], rejected: [], problem: opml.problem };
  const collected = new Collected();
  for (const { url, title, siteUrl } of opml.feeds) collected.take(url, { line: null, title, siteUrl });
  const { feeds, rejected } = collected;
  const more = { line: null, text: `${opml.skipped} more`, message: 'outlines without an address of a feed' };
  return { feeds, rejected: opml.skipped > 0 ? [...rejected, more] : rejected };
}

function readLines(text: string): Subscriptions {
  const collected = new Collected();
  for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
    const text = line.replace(/^\uFEFF/, '').trim();
    if (text === '' || text.startsWith('#')) continue;
    // A `#` after a blank begins a comment. Looked for in short lines alone: blanks are tried one by one.
    const [address = ''] = text.length > MAX_LINE ? [text] : text.split(/\s+#/, 1);
    collected.take(address, { line: at + 1 });
  }
  return collected;
}

class Collected {
  readonly #seen = new Set<string>();
  readonly feeds: NewFeed[] = [];
  readonly rejected: Subscriptions['rejected'][number][] = [];

  take(text: string, { line, ...known }: { readonly line: number | null } & Omit<NewFeed, 'url'>): void {
    const address = feedAddress(text);
    if (!address.ok) {
      const shown = withoutCredentials(text).slice(0, 100).toWellFormed();
      this.rejected.push({ line, text: shown, message: address.message });
    } else if (!this.#seen.has(address.url)) {
      this.#seen.add(address.url);
      this.feeds.push({ url: address.url, ...known });
    }
  }
}

/**
 * Subscribes to what is new in the configured file: what was given up stays so, and what has moved is known where it is now. The
 * service does not start with a list that it cannot read.
 */
export async function importSubscriptions(
  file: string,
  { store, logger, now }: { readonly store: Pick<Store, 'feeds'>; readonly logger: Logger; readonly now: () => Date },
): Promise<void> {
  const text = await readListFile(file).catch((cause: unknown) => {
    throw startErrorOf(cause, { doing: `read the feeds of ${file}`, advice: 'see STRATA_FEEDS_FILE' });
  });
  const { feeds, rejected, problem } = readSubscriptions(text);
  if (problem !== undefined)
    throw new StartError(`cannot read the feeds of ${file}: ${problem}; see STRATA_FEEDS_FILE`);
  const { added, known } = await store.feeds.add(feeds, now(), { isReviving: false });
  logger.info({ file, added, known, rejected: rejected.length }, 'feeds imported');
}

/** The whole file, up to the most that a list may have. */
export async function readListFile(file: string): Promise<string> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  if (size > MAX_LIST_BYTES) throw new StartError(`${file} is larger than ${MAX_LIST_BYTES / 2 ** 20} MiB`);
  return await handle.readFile('utf8');
}

const MAX_BYTES = 512 * 1_024;
const TIMEOUT_MS = 8_000;

/** The feeds that a page announces; undefined when it is none, or could not be asked. */
export async function feedsOfPage(
  fetcher: Pick<Fetcher, 'fetch'>,
  url: string,
): Promise<readonly string[] | undefined> {
  const answer = await fetcher.fetch(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  if (answer.kind !== 'answered' || answer.status !== 200) return undefined;
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)/i.test(answer.headers['content-type'] ?? '');
  const text = answer.body.toString('utf8');
  // Feeds are served under any type: what begins as one is one.
  const isPage = isHtml && !/^\s{0,1000}(?:<\?xml|<rss|<feed|<rdf|\{)/i.test(text);
  return isPage ? announcedFeeds(text, answer.url) : undefined;
}
