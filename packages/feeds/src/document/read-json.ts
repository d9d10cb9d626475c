// JSON Feed 1.0 and 1.1 (jsonfeed.org/version/1.1), read with zod: feedsmith treats `{"length": 1e9}` as a list and exhausts the
// memory.
import { z } from 'zod';
import { FEED_VOCABULARY } from '../xml/vocabulary.ts';
import { documentsOf, NO_SCHEDULE, type RawItem, type RawReading } from './raw-feed.ts';

const MAX_TEXT_LENGTH = 200_000;
const MAX_ATTACHMENTS = 100;
/** Millions of brackets occupy `JSON.parse` for half a second; a feed of 5 MB has about ten thousand. */
const MAX_BRACKETS = 200_000;

/** Values of a wrong type are ignored, so that one invalid field does not drop the item. */
const Text = z
  .string()
  .transform((text) => text.slice(0, MAX_TEXT_LENGTH))
  .optional()
  .catch(undefined);
const Id = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const Attachments = z.array(z.unknown()).catch([]);
const Attachment = z.object({ url: Text, mime_type: Text }).catch({});

const Item = z.object({
  id: Id,
  url: Text,
  external_url: Text,
  title: Text,
  content_html: Text,
  content_text: Text,
  summary: Text,
  date_published: Text,
  date_modified: Text,
  attachments: Attachments.optional(),
});

const Feed = z.object({
  version: z.string(),
  title: Text,
  home_page_url: Text,
  items: z.array(z.unknown()),
});

/** The document must be complete: truncated JSON cannot be parsed. */
export function readJsonFeed(text: string): RawReading {
  if (hasTooManyBrackets(text))
    return { ok: false, problem: 'The document is JSON with too many elements for a feed.' };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'The document is invalid JSON.' };
  }
  const parsed = Feed.safeParse(json);
  if (!parsed.success || !parsed.data.version.includes('jsonfeed.org/version/')) {
    return { ok: false, problem: 'The document is JSON, but not a JSON Feed.' };
  }
  const { title, home_page_url: link, items } = parsed.data;
  const read = items.slice(0, FEED_VOCABULARY.maxItems).map((item) => Item.safeParse(item).data);
  const kept = read.filter((item) => item !== undefined).map(fromItem);
  return {
    ok: true,
    feed: {
      ...NO_SCHEDULE,
      format: 'json',
      title: title === undefined ? undefined : { text: title, isHtml: false },
      link,
      base: undefined,
      items: kept,
      skipped: read.length - kept.length,
    },
  };
}

function fromItem(item: z.infer<typeof Item>): RawItem {
  // In a link blog `url` is its own page and `external_url` the link of the item.
  const [link, page] = item.external_url ? [item.external_url, item.url] : [item.url];
  const attachments = (item.attachments ?? []).slice(0, MAX_ATTACHMENTS).map((attachment) => {
    const { url, mime_type: type } = Attachment.parse(attachment);
    return { url, type };
  });
  const bodies = [
    { text: item.content_html, isHtml: true },
    { text: item.content_text, isHtml: false },
    { text: item.summary, isHtml: false },
  ];
  return {
    // Two items may link to one URL.
    id: item.id ?? page,
    link,
    title: item.title === undefined ? undefined : { text: item.title, isHtml: false },
    date: item.date_published ?? item.date_modified,
    texts: bodies.flatMap(({ text, isHtml }) => (text === undefined ? [] : [{ text, isHtml }])),
    related: [...(page === undefined ? [] : [page]), ...documentsOf(attachments)],
    base: undefined,
  };
}

function hasTooManyBrackets(text: string): boolean {
  let brackets = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code === 0x5b || code === 0x7b) && ++brackets > MAX_BRACKETS) return true;
  }
  return false;
}
