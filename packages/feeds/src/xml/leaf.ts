// An element with text, while it is read.
import { resolveAddress } from '../links/addresses.ts';
import { type Element, resolveEntities } from './element.ts';

/** Characters of one element in the source. */
export const MAX_TEXT_LENGTH = 200_000;

export interface Leaf {
  readonly name: string;
  /** The name in its end tag: without a prefix if the element declares the namespace. */
  readonly endName: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly start: number;
  /** Up to the last CDATA section, entities resolved. */
  text: string;
  /** After it, as in the source. */
  unresolved: string;
  /** Characters left up to the maximum. */
  left: number;
  hasMarkup: boolean;
  /** Nested open elements with the leaf's own name. */
  depth: number;
}

export function newLeaf(leaf: Pick<Leaf, 'name' | 'endName' | 'start' | 'attributes'>): Leaf {
  return { ...leaf, text: '', unresolved: '', left: MAX_TEXT_LENGTH, hasMarkup: false, depth: 0 };
}

/** CDATA is literal; text has entities, which may continue in the next piece. */
export function addText(leaf: Leaf, piece: string, kind: 'text' | 'cdata'): void {
  leaf.left -= piece.length;
  if (kind === 'text') leaf.unresolved += piece;
  else {
    leaf.text += resolveEntities(leaf.unresolved) + piece;
    leaf.unresolved = '';
  }
}

/** The complete element; `markup` is its source if it contains markup. */
export function elementOf(leaf: Leaf, markup: string | null): Element {
  const attributes = withOwnBase(leaf.attributes);
  const { name } = leaf;
  if (markup === null) {
    return { name, attributes, text: (leaf.text + resolveEntities(leaf.unresolved)).trim(), children: [] };
  }
  const text = htmlOf(markup, attributes.get('type')).trim();
  return { name, attributes: new Map(attributes).set('type', 'html'), text, children: [] };
}

/**
 * Unescaped markup in a leaf is Atom's `xhtml`, or an error; both are read as HTML from the source. CDATA sections beside it contain
 * HTML too, except in XHTML, where they are text: HTML treats them as comments.
 */
function htmlOf(markup: string, type = ''): string {
  return /xhtml/i.test(type) ? markup : markup.replace(/<!\[CDATA\[|\]\]>/g, '');
}

/** A link with its own base becomes absolute. */
function withOwnBase(attributes: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const href = attributes.get('href');
  const base = attributes.get('xml:base');
  const url = href === undefined || base === undefined ? null : resolveAddress(href, base);
  return url === null ? attributes : new Map(attributes).set('href', url);
}
