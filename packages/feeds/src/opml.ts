// Reads and writes feed lists: OPML 1.0 and 2.0 (opml.org/spec2.opml).
import { generateOpml } from 'feedsmith';
import { plainTitle } from './document/feed-items.ts';
import type { OpmlFeed } from './feed.ts';
import { resolveAddress } from './links/addresses.ts';
import { attributeOf, childrenOf, type Element, firstChild } from './xml/element.ts';
import { readElements } from './xml/read-elements.ts';
import { OPML_VOCABULARY } from './xml/vocabulary.ts';

/** About ninety thousand feeds as written here; also the limit for input. */
const MAX_CHARACTERS = 16 * 1_024 * 1_024;

export type OpmlReading =
  | { readonly ok: true; readonly feeds: readonly OpmlFeed[]; readonly skipped: number }
  | { readonly ok: false; readonly problem: string };

/** The feeds of a document, nested outlines included, without duplicates; `skipped` counts outlines with an invalid feed URL. */
export function readOpml(text: string): OpmlReading {
  if (text.length > MAX_CHARACTERS) {
    return { ok: false, problem: `The document has more than ${MAX_CHARACTERS} characters.` };
  }
  const reading = readElements(text, { vocabulary: OPML_VOCABULARY, isTruncated: false });
  if (!reading.ok) return reading;
  const feeds = new Map<string, OpmlFeed>();
  let skipped = 0;
  for (const outline of outlinesIn(firstChild(reading.root, 'body'))) {
    const xmlUrl = attributeOf(outline, 'xmlurl');
    if (xmlUrl === undefined) continue;
    const url = absolute(xmlUrl);
    if (url === null) skipped++;
    else if (!feeds.has(url)) {
      const title = plainTitle(plain(attributeOf(outline, 'title') ?? attributeOf(outline, 'text')));
      const htmlUrl = attributeOf(outline, 'htmlurl');
      feeds.set(url, { url, title, siteUrl: htmlUrl === undefined ? null : absolute(htmlUrl) });
    }
  }
  return { ok: true, feeds: [...feeds.values()], skipped };
}

/** OPML 2.0. */
export function writeOpml(
  feeds: readonly OpmlFeed[],
  { title, now }: { readonly title: string; readonly now: Date },
): string {
  const outlines = feeds.map(({ url, title: name, siteUrl }) => ({
    text: printable(name ?? url),
    title: printable(name ?? url),
    type: 'rss',
    xmlUrl: url,
    ...(siteUrl !== null && { htmlUrl: siteUrl }),
  }));
  // OPML 2.0 requires an outline in every body; one without a URL is a folder.
  const body = { outlines: outlines.length > 0 ? outlines : [{ text: 'No feeds' }] };
  return generateOpml({ head: { title: printable(title), dateCreated: now }, body });
}

/** In document order. `readElements` limits the depth. */
function outlinesIn(parent: Element | undefined): Element[] {
  return childrenOf(parent, 'outline').flatMap((outline) => [outline, ...outlinesIn(outline)]);
}

/** Accepts `feed:` URLs of old readers. */
function absolute(address: string): string | null {
  const web = address
    .trim()
    .replace(/^feed:\/\//i, 'http://')
    .replace(/^feed:/i, '');
  return URL.canParse(web) ? resolveAddress(web, web) : null;
}

function plain(text: string | undefined) {
  return text === undefined ? undefined : { text, isHtml: false };
}

/** XML 1.0 §2.2 does not permit most control characters. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes control characters
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
}
