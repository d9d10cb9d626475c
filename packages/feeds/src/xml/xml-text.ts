// Pieces of XML as `tidyXml` writes them.
import { resolveAddress } from '../links/addresses.ts';

/** An element that holds text, while it is read. */
export interface Leaf {
  readonly name: string;
  /** What its end tag says: without a prefix where the namespace was declared on the element. */
  readonly endName: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly start: number;
  text: string;
  hasMarkup: boolean;
  /** Open elements of the leaf's own name within it. */
  depth: number;
}

/** Text of which nothing is markup or an entity. Entities cost the feed parser far more than a section of CDATA. */
export function formatVerbatim(text: string): string {
  return `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

/** Attributes as they were read: entities in them stay for the feed parser to resolve. */
export function formatAttributes(attributes: Iterable<readonly [string, string]>): string {
  let text = '';
  for (const [name, value] of attributes) {
    text += ` ${name}="${value.replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"`;
  }
  return text;
}

/** A link with a base of its own, which the feed parser would lose, is written absolute. */
export function withOwnBase(attributes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const href = attributes.get('href');
  const base = attributes.get('xml:base');
  const url = href === undefined || base === undefined ? null : resolveAddress(href, base);
  return url === null ? attributes : new Map(attributes).set('href', url);
}

/**
 * Markup that stands in a leaf unescaped is what Atom calls `xhtml`, or an error; both are read as HTML of `source`. Sections of
 * CDATA beside it hold HTML as well, but in XHTML, where they are text: for HTML they are comments.
 */
export function formatLeaf({ name, attributes, text, hasMarkup }: Leaf, source: string): string {
  if (!hasMarkup) return `<${name}${formatAttributes(attributes)}>${text}</${name}>`;
  const others = formatAttributes([...attributes].filter(([key]) => key !== 'type'));
  const html = /xhtml/i.test(attributes.get('type') ?? '') ? source : source.replace(/<!\[CDATA\[|\]\]>/g, '');
  return `<${name}${others} type="html">${formatVerbatim(html)}</${name}>`;
}
