// Reads and writes feed lists: OPML 1.0 and 2.0 (opml.org/spec2.opml).
import { generateOpml, parseOpml } from 'feedsmith';
import { plainTitle } from './document/feed-items.ts';
import type { OpmlFeed } from './feed.ts';
import { resolveAddress } from './links/addresses.ts';
import { tidyXml } from './xml/tidy-xml.ts';
import { OPML_VOCABULARY } from './xml/vocabulary.ts';

/** About ninety thousand feeds as written here; also the limit for input. */
const MAX_CHARACTERS = 16 * 1_024 * 1_024;

export type OpmlReading =
  | { readonly ok: true; readonly feeds: readonly OpmlFeed[]; readonly skipped: number }
  | { readonly ok: false; readonly problem: string };

type Outline = NonNullable<NonNullable<ReturnType<typeof parseOpml<string>>['body']>['outlines']>[number];

/** The feeds of a document, nested outlines included, without duplicates; `skipped` counts outlines with an invalid feed URL. */
export function readOpml(text: string): OpmlReading {
  if (text.length > MAX_CHARACTERS) {
    return { ok: false, problem: `The document has more than ${MAX_CHARACTERS} characters.` };
  }
  const tidied = tidyXml(text, { vocabulary: OPML_VOCABULARY, isTruncated: false });
  if (!tidied.ok) return tidied;
  const feeds = new Map<string, OpmlFeed>();
  let skipped = 0;
  for (const outline of outlinesOf(tidied.xml)) {
    if (outline.xmlUrl === undefined) continue;
    const url = absolute(outline.xmlUrl);
    if (url === null) skipped++;
    else if (!feeds.has(url)) {
      const title = plainTitle(plain(outline.title ?? outline.text));
      feeds.set(url, { url, title, siteUrl: outline.htmlUrl === undefined ? null : absolute(outline.htmlUrl) });
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

function outlinesOf(xml: string): Outline[] {
  try {
    return flatten(parseOpml(xml).body?.outlines ?? []);
  } catch {
    // feedsmith rejects a document without a body: treated as an empty list.
    return [];
  }
}

/** In document order. `tidyXml` limits the depth. */
function flatten(outlines: readonly Outline[]): Outline[] {
  return outlines.flatMap((outline) => [outline, ...flatten(outline.outlines ?? [])]);
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
