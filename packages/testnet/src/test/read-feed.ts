// Reads the feeds of the tests with plain patterns: not a reader to use, but one that shares nothing with the writer.
import { domainToASCII } from 'node:url';

export interface ReadItem {
  readonly id: string;
  readonly publishedAt: number | null;
  readonly link: string | null;
  readonly content: readonly string[];
}

/** Names that say nothing of whom an item names. */
const NOBODY = new Set('facebook.com twitter.com linkedin.com bit.ly t.co tinyurl.com'.split(' '));

export function readFeed(text: string, publisher: string): ReadItem[] {
  return text.startsWith('{') ? readJson(text, publisher) : readXml(text, publisher);
}

/** By the mark or the declaration; a test says so where both are wrong. */
export function decodeFeed(body: Buffer, charset?: string): string {
  const declared = /encoding="([^"]+)"/.exec(body.subarray(0, 200).toString('latin1'))?.[1];
  const marked = body[0] === 0xff ? 'utf-16le' : body[0] === 0xfe ? 'utf-16be' : undefined;
  return new TextDecoder(charset ?? marked ?? declared ?? 'utf-8', { fatal: true }).decode(body);
}

function readJson(text: string, publisher: string): ReadItem[] {
  type JsonItem = Record<'id' | 'url' | 'content_html', string> & { external_url?: string; date_published?: string };
  const { items } = JSON.parse(text) as { items: JsonItem[] };
  return items.map(({ id, url, external_url, date_published: date, content_html: html }) =>
    itemOf({ id, url: external_url ?? url, date, html }, publisher),
  );
}

function readXml(text: string, publisher: string): ReadItem[] {
  return [...text.matchAll(/<(item|entry)[ >].*?<\/\1>/gs)].map(([item]) => {
    const of = (pattern: RegExp) => {
      const found = pattern.exec(item)?.[1];
      return found === undefined ? undefined : textOf(found);
    };
    const url = of(/<link>(.*?)<\/link>/s) ?? of(/<link href="(.*?)"/s) ?? '';
    const isXhtml = item.includes('type="xhtml"');
    const raw = /<(content:encoded|content|description)(?: [^>]*)?>(.*)<\/\1>/s.exec(
      item.replace('<description>What it is about, in short.</description>', ''),
    )?.[2];
    const id = of(/<guid.*?>(.*?)<\/guid>/s) ?? of(/<id>(.*?)<\/id>/s) ?? url;
    const date = of(/<(?:pubDate|dc:date|updated)>(.*?)</s);
    return itemOf({ id, url, date, html: isXhtml ? (raw ?? '') : textOf(raw ?? '') }, publisher);
  });
}

function textOf(raw: string): string {
  if (!raw.includes('<![CDATA[')) return unescaped(raw);
  return raw.replace(/<!\[CDATA\[(.*?)\]\]>/gs, '$1');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#34': '"', amp: '&' };
const unescaped = (text: string) => text.replace(/&(lt|gt|quot|#34|amp);/g, (_, name) => ENTITIES[name] ?? '');

interface Raw {
  readonly id: string;
  readonly url: string;
  readonly date: string | undefined;
  readonly html: string;
}

function itemOf({ id, url, date, html }: Raw, publisher: string): ReadItem {
  const link = namedBy(url, publisher);
  const named = [...html.matchAll(/<a [^>]*?href=(?:"([^"]*)"|'([^']*)'|([^ >]*))/gi)].flatMap(
    ([, double, single, bare]) => namedBy(unescaped(double ?? single ?? bare ?? ''), publisher) ?? [],
  );
  const content = [...new Set(named)].filter((domain) => domain !== link);
  return { id, publishedAt: date === undefined ? null : Date.parse(date), link, content };
}

/** The registrable domain that a link names, if it names one. */
function namedBy(href: string, publisher: string): string | null {
  const base = `https://${publisher}/`;
  if (!URL.canParse(href.trim(), base)) return null;
  const { protocol, hostname, searchParams } = new URL(href.trim(), base);
  if (!protocol.startsWith('http')) return null;
  const wrapped = searchParams.get('q') ?? (hostname === 'l.facebook.com' ? searchParams.get('u') : null);
  if (wrapped !== null) return namedBy(wrapped, publisher);
  const labels = domainToASCII(hostname).split('.');
  if (labels.length < 2 || /^[\d.]+$/.test(hostname)) return null;
  const domain = labels.slice(labels.at(-2) === 'co' && labels.at(-1) === 'uk' ? -3 : -2).join('.');
  return domain === publisher || NOBODY.has(domain) ? null : domain;
}
