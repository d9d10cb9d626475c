// Formats the XML that `tidyXml` writes.
import { resolveAddress } from '../links/addresses.ts';

/** An element with text, while it is read. */
export interface Leaf {
  readonly name: string;
  /** The name in its end tag: without a prefix if the element declares the namespace. */
  readonly endName: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly start: number;
  text: string;
  hasMarkup: boolean;
  /** Nested open elements with the leaf's own name. */
  depth: number;
}

/** Literal text without markup and entities. CDATA costs the feed parser far less than entities. */
export function formatVerbatim(text: string): string {
  return `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

/** Attributes as read: the feed parser resolves their entities. */
export function formatAttributes(attributes: Iterable<readonly [string, string]>): string {
  let text = '';
  for (const [name, value] of attributes) {
    text += ` ${name}="${value.replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"`;
  }
  return text;
}

/** Makes a link with its own base absolute, because the feed parser would lose the base. */
export function withOwnBase(attributes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const href = attributes.get('href');
  const base = attributes.get('xml:base');
  const url = href === undefined || base === undefined ? null : resolveAddress(href, base);
  return url === null ? attributes : new Map(attributes).set('href', url);
}

/**
 * Unescaped markup in a leaf is Atom's `xhtml`, or an error; both are read as HTML from `source`. CDATA sections beside it contain
 * HTML too, except in XHTML, where they are text: HTML treats them as comments.
 */
export function formatLeaf({ name, attributes, text, hasMarkup }: Leaf, source: string): string {
  if (!hasMarkup) return `<${name}${formatAttributes(attributes)}>${text}</${name}>`;
  const attributesWithoutType = formatAttributes([...attributes].filter(([key]) => key !== 'type'));
  const html = /xhtml/i.test(attributes.get('type') ?? '') ? source : source.replace(/<!\[CDATA\[|\]\]>/g, '');
  return `<${name}${attributesWithoutType} type="html">${formatVerbatim(html)}</${name}>`;
}
