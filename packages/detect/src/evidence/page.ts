// Extracts what detection uses from an HTML page, in one pass over its tokens: no tree, no stack, linear in the page's
// length.
import { Tokenizer } from 'htmlparser2';
import type { Page } from './evidence.ts';
import { schemaTypeName, schemaTypesOf } from './structured-data.ts';
import { tagIds } from './tag-ids.ts';
import { cutText } from './text.ts';

/** Longer pages are truncated here; the probe truncates far earlier. */
const MAX_PAGE_CHARACTERS = 4_000_000;
const MAX_ASSETS = 200;
const MAX_METAS = 64;
const MAX_MARKERS = 200;
/** Ids of scripts have a limit of their own, because `__NEXT_DATA__` is at the very end of long pages. */
const MAX_SCRIPT_IDS = 32;
const MAX_TYPES = 32;
/** For all JSON-LD of one page. A longer document cannot be parsed in part. */
const MAX_JSON_LENGTH = 65_536;
const MAX_URL_LENGTH = 512;
const MAX_NAME_LENGTH = 96;
const MAX_TEXT_LENGTH = 256;
const MAX_ATTRIBUTES = 64;
/** The length of the page source that is kept as evidence; most product names are near the beginning. */
export const MAX_SOURCE_LENGTH = 65_536;

const ASSET_ATTRIBUTE: ReadonlyMap<string, string> = new Map([
  ['script', 'src'],
  ['img', 'src'],
  ['iframe', 'src'],
  ['frame', 'src'],
  ['link', 'href'],
]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes control characters
const UNKEPT_CHARACTERS = /[\x00-\x08\x0b\x0e-\x1f\x7f]/g;
const MARKER_ATTRIBUTE = /^(?:data|ng)-/;

export interface PageOptions {
  /** The URL of the page; links resolve against it. */
  readonly url: string;
  readonly isTruncated: boolean;
  /** Whether the page's source is kept, for patterns of community sets. */
  readonly keepSource?: boolean;
}

/** Extracts title, metas, assets and markers from HTML of any quality; never throws, every list is bounded. */
export function extractPage(html: string, { url, isTruncated, keepSource = false }: PageOptions): Page {
  const reader = new PageReader(html.slice(0, MAX_PAGE_CHARACTERS), url);
  const page = reader.read(isTruncated || html.length > MAX_PAGE_CHARACTERS);
  return keepSource ? { ...page, source: keptSource(html) } : page;
}

/**
 * Keeps line breaks and tabs, since patterns distinguish white space. Characters that databases and signatures reject
 * become U+FFFD.
 */
function keptSource(html: string): string {
  return html.slice(0, MAX_SOURCE_LENGTH).replace(UNKEPT_CHARACTERS, '\ufffd').toWellFormed();
}

/** Collects the tokens of one page. The tokenizer reports positions in the input text. */
class PageReader {
  readonly #html: string;
  #base: string;
  #title: string | null = null;
  #icon: string | null = null;
  readonly #metas = new Map<string, string>();
  readonly #assets = new Set<string>();
  readonly #markers = new Set<string>();
  readonly #scriptIds = new Set<string>();
  #tag = '';
  #attributes = new Map<string, string>();
  #attributeName = '';
  #attributeValue = '';
  #titleText: string | null = null;
  readonly #types = new Set<string>();
  /** The JSON-LD of the current script; null outside of one. */
  #json: string | null = null;
  #jsonLength = 0;

  constructor(html: string, url: string) {
    this.#html = html;
    this.#base = url;
  }

  read(isTruncated: boolean): Page {
    const ignore = () => {};
    const tokenizer = new Tokenizer(
      { decodeEntities: true },
      {
        onopentagname: (start, end) => this.#openTag(start, end),
        onattribname: (start, end) => {
          this.#attributeName = this.#html.slice(start, Math.min(end, start + MAX_NAME_LENGTH)).toLowerCase();
          this.#attributeValue = '';
        },
        onattribdata: (start, end) => this.#addToValue(this.#html.slice(start, Math.min(end, start + MAX_URL_LENGTH))),
        onattribentity: (codePoint) => this.#addToValue(String.fromCodePoint(codePoint)),
        onattribend: () => this.#endAttribute(),
        onopentagend: () => this.#endTag(),
        onselfclosingtag: () => this.#endTag(),
        onclosetag: () => this.#closeText(),
        ontext: (start, end) => {
          this.#addToTitle(this.#html.slice(start, Math.min(end, start + MAX_TEXT_LENGTH)));
          this.#addToJson(start, end);
        },
        ontextentity: (codePoint) => this.#addToTitle(String.fromCodePoint(codePoint)),
        oncdata: ignore,
        oncomment: ignore,
        ondeclaration: ignore,
        onprocessinginstruction: ignore,
        onend: ignore,
      },
    );
    tokenizer.write(this.#html);
    tokenizer.end();
    this.#closeTitle();
    this.#json = null;
    return {
      title: this.#title,
      metas: Object.fromEntries(this.#metas),
      assets: [...this.#assets],
      markers: [...new Set([...this.#markers, ...this.#scriptIds])],
      types: [...this.#types],
      tags: tagIds(this.#html),
      ...(this.#icon !== null && { icon: this.#icon }),
      isTruncated,
    };
  }

  #openTag(start: number, end: number): void {
    this.#closeText();
    this.#tag = end - start > MAX_NAME_LENGTH ? '' : this.#html.slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }

  #addToValue(text: string): void {
    if (this.#attributeValue.length < MAX_URL_LENGTH) this.#attributeValue += text;
  }

  /** The first of two attributes with one name counts, as in browsers. */
  #endAttribute(): void {
    const name = this.#attributeName;
    if (this.#attributes.size < MAX_ATTRIBUTES && !this.#attributes.has(name)) {
      this.#attributes.set(name, this.#attributeValue);
    }
  }

  #endTag(): void {
    const attributes = this.#attributes;
    if (this.#tag === 'title' && this.#title === null) this.#titleText = '';
    else if (this.#tag === 'base') this.#base = resolveUrl(attributes.get('href') ?? '', this.#base) ?? this.#base;
    else if (this.#tag === 'meta') this.#addMeta(attributes);
    else if (this.#tag === 'script' && isJsonLd(attributes.get('type'))) this.#json = '';
    if (this.#tag === 'html' || this.#tag === 'body') this.#addTypes(itemTypes(attributes.get('itemtype')));
    this.#addAsset(attributes);
    this.#addMarkers(attributes);
    this.#attributes = new Map();
  }

  #addToTitle(text: string): void {
    if (this.#titleText !== null && this.#titleText.length < MAX_TEXT_LENGTH) this.#titleText += text;
  }

  #addToJson(start: number, end: number): void {
    if (this.#json === null) return;
    this.#jsonLength += end - start;
    if (this.#jsonLength <= MAX_JSON_LENGTH) this.#json += this.#html.slice(start, end);
    else this.#json = null;
  }

  #addTypes(types: readonly string[]): void {
    for (const type of types) if (this.#types.size < MAX_TYPES) this.#types.add(type);
  }

  #closeText(): void {
    this.#closeTitle();
    if (this.#json === null) return;
    this.#addTypes(schemaTypesOf(this.#json));
    this.#json = null;
  }

  #closeTitle(): void {
    if (this.#titleText === null) return;
    this.#title = cutText(this.#titleText.replace(/\s+/g, ' ').trim(), MAX_TEXT_LENGTH);
    this.#titleText = null;
  }

  #addMeta(attributes: ReadonlyMap<string, string>): void {
    const name = cutText((attributes.get('name') ?? attributes.get('property') ?? '').toLowerCase(), MAX_NAME_LENGTH);
    const content = attributes.get('content');
    if (name === '' || content === undefined || this.#metas.has(name)) return;
    // Detection uses the generator, so it is kept even after the limit of metas.
    if (this.#metas.size < MAX_METAS || name === 'generator') this.#metas.set(name, cutText(content, MAX_TEXT_LENGTH));
  }

  #addAsset(attributes: ReadonlyMap<string, string>): void {
    const attribute = ASSET_ATTRIBUTE.get(this.#tag);
    if (attribute === undefined || this.#assets.size >= MAX_ASSETS) return;
    const resolved = resolveUrl(attributes.get(attribute) ?? '', this.#base);
    if (resolved === null) return;
    this.#assets.add(resolved);
    if (this.#tag === 'link' && isIcon(attributes.get('rel'))) this.#icon ??= resolved;
  }

  #addMarkers(attributes: ReadonlyMap<string, string>): void {
    const id = attributes.get('id');
    if (id) addMarker(this.#tag === 'script' ? this.#scriptIds : this.#markers, id, this.#tag === 'script');
    for (const name of attributes.keys()) if (MARKER_ATTRIBUTE.test(name)) addMarker(this.#markers, name, false);
  }
}

/** `icon` or `shortcut icon`. */
function isIcon(rel = ''): boolean {
  return rel.toLowerCase().split(/\s+/, 4).includes('icon');
}

function isJsonLd(type: string | undefined): boolean {
  return type?.trim().toLowerCase() === 'application/ld+json';
}

/** Microdata: URLs separated by white space. */
function itemTypes(value: string | undefined): readonly string[] {
  return value === undefined ? [] : value.split(/\s+/, 4).flatMap((type) => schemaTypeName(type) ?? []);
}

function addMarker(markers: Set<string>, marker: string, isScript: boolean): void {
  if (markers.size >= (isScript ? MAX_SCRIPT_IDS : MAX_MARKERS)) return;
  markers.add(cutText(marker.toLowerCase(), MAX_NAME_LENGTH));
}

/** Absolute http(s) URL without fragment; null for other schemes, such as `data:` and `javascript:`, which name no host. */
function resolveUrl(reference: string, base: string): string | null {
  if (reference === '' || reference.startsWith('data:')) return null;
  const url = URL.parse(reference, base);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null;
  url.hash = '';
  url.username = '';
  url.password = '';
  return cutText(url.href, MAX_URL_LENGTH);
}
