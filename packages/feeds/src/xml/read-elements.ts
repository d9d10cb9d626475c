// Reads the elements of a vocabulary from any XML-like text. One pass over htmlparser2's tokens: linear, bounded in depth and
// items. Hostile input has no effect: no declarations, no custom entities (they stay text), no names outside the vocabulary.
import { Tokenizer } from 'htmlparser2';
import { NO_CALLBACKS } from '../links/html-text.ts';
import { type Element, resolveEntities } from './element.ts';
import { addText, elementOf, type Leaf, MAX_TEXT_LENGTH, newLeaf } from './leaf.ts';
import { Namespaces } from './namespaces.ts';
import { type Container, OpenElements } from './open-elements.ts';
import { FLAT_LEAVES, type Vocabulary } from './vocabulary.ts';

/** Maximum depth; deeper elements are skipped. */
const MAX_DEPTH = 60;
const MAX_ATTRIBUTE_LENGTH = 4_096;
const MAX_NAME_LENGTH = 64;
const NAME_START = /^[\p{L}_]/u;
/** Leaves per item, before the first item, and in total before no further item begins. */
const MAX_LEAVES_PER_ITEM = 100;
const MAX_LEAVES_OUTSIDE = 1_000;
const MAX_LEAVES = 20_000;

export interface ReadElementsOptions {
  readonly vocabulary: Vocabulary;
  /** The text was truncated: an incomplete last item is dropped. */
  readonly isTruncated: boolean;
}

export type ElementsReading =
  | { readonly ok: true; readonly root: Element }
  | { readonly ok: false; readonly problem: string };

/** Tolerates missing end tags, stray `<` and `&`, and text before the document. Never throws. */
export function readElements(source: string, options: ReadElementsOptions): ElementsReading {
  // XML 1.0 §2.11.
  return new ElementReader(source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source, options).run();
}

class ElementReader {
  readonly #source: string;
  readonly #vocabulary: Vocabulary;
  readonly #isTruncated: boolean;
  readonly #tokenizer: Tokenizer;
  readonly #namespaces = new Namespaces();
  readonly #open = new OpenElements();
  #root: Container | null = null;
  #problem: string | null = null;
  #firstName: string | null = null;
  #tag = '';
  #tagStart = 0;
  #attributes = new Map<string, string>();
  #attributeName = '';
  #attributeValue = '';
  /** The default namespace declared by the tag. */
  #namespace: string | null = null;
  #leaf: Leaf | null = null;
  #items = 0;
  #containers = 0;
  #leaves = 0;
  /** Leaves since the last item began. */
  #written = 0;
  #isInItem = false;

  constructor(source: string, { vocabulary, isTruncated }: ReadElementsOptions) {
    this.#source = source;
    this.#vocabulary = vocabulary;
    this.#isTruncated = isTruncated;
    this.#tokenizer = new Tokenizer(
      { xmlMode: true, decodeEntities: false },
      {
        ...NO_CALLBACKS,
        onopentagname: (start, end) => this.#beginTag(start, end),
        onattribname: (start, end) => {
          this.#attributeName = source.slice(start, Math.min(end, start + MAX_NAME_LENGTH)).toLowerCase();
          this.#attributeValue = '';
        },
        onattribdata: (start, end) => {
          // A truncated URL would be another URL: too long values are dropped.
          this.#attributeValue = end - start > MAX_ATTRIBUTE_LENGTH ? '' : source.slice(start, end);
        },
        onattribend: () => this.#endAttribute(),
        onopentagend: (end) => this.#endTag(end + 1, false),
        onselfclosingtag: (end) => this.#endTag(end + 1, true),
        onclosetag: (start, end) => this.#close(start, end),
        ontext: (start, end) => this.#addText(start, end, 'text'),
        oncdata: (start, end, offset) => this.#addText(start, end - offset, 'cdata'),
      },
    );
  }

  run(): ElementsReading {
    this.#tokenizer.write(this.#source);
    if (this.#tokenizer.running) this.#tokenizer.end();
    if (this.#problem !== null) return { ok: false, problem: this.#problem };
    if (this.#root === null) return { ok: false, problem: this.#rootProblem() };
    if (this.#isTruncated && this.#isInItem) {
      this.#leaf = null;
      while (this.#open.size > 0 && !this.#isItem(this.#open.pop()?.name ?? '')) {}
      this.#open.last?.container?.children.pop();
    }
    this.#endLeaf(this.#source.length);
    return { ok: true, root: this.#root };
  }

  #rootProblem(): string {
    if (this.#firstName === null) return 'The document is empty or not XML.';
    return `The document is <${this.#firstName}>, which is not one of <${[...this.#vocabulary.roots].join('>, <')}>.`;
  }

  #stop(problem: string | null): void {
    this.#problem = problem;
    this.#tokenizer.pause();
  }

  #beginTag(start: number, end: number): void {
    this.#tag = end - start > MAX_NAME_LENGTH ? '' : this.#source.slice(start, end).toLowerCase();
    this.#tagStart = start - 1;
    this.#attributes = new Map();
    this.#namespace = null;
  }

  #endAttribute(): void {
    const name = this.#attributeName;
    if (name.startsWith('xmlns:')) {
      this.#namespaces.declare(name.slice(6), this.#attributeValue);
      return;
    }
    if (name === 'xmlns') this.#namespace = this.#attributeValue;
    const local = name === 'xml:base' ? name : name.slice(name.indexOf(':') + 1);
    if (this.#vocabulary.attributes.has(local) && !this.#attributes.has(local)) {
      this.#attributes.set(local, this.#attributeValue);
    }
  }

  #endTag(end: number, isEmpty: boolean): void {
    const tag = this.#tag;
    if (this.#root === null) {
      this.#openRoot(tag);
      return;
    }
    if (!NAME_START.test(tag)) {
      this.#closeSwallowed(end);
      return;
    }
    const name = this.#namespaces.canonical(tag, this.#rootName);
    if (this.#leaf !== null && !this.#endsLeaf(name)) {
      this.#leaf.hasMarkup = true;
      if (name === this.#leaf.endName && !isEmpty) this.#leaf.depth++;
      return;
    }
    this.#endLeaf(this.#tagStart);
    if (this.#isItem(name)) this.#closeOpenItem();
    if (this.#open.size >= MAX_DEPTH) return;
    const leafName = this.#leafName(name);
    if (this.#open.last?.container === null) this.#push(name, null, isEmpty);
    else if (this.#isContainer(name)) this.#openContainer(name, isEmpty);
    else if (leafName !== undefined) this.#openLeaf(leafName, { endName: name, end, isEmpty });
    else this.#push(name, null, isEmpty);
  }

  /** Accounts for an element with its own default namespace. */
  #leafName(name: string): string | undefined {
    const own = this.#namespace === null ? null : this.#namespaces.ownName(name, this.#namespace);
    const names = own === null || this.#rootName === 'feed' ? [name] : [own, name];
    return names.find((each) => this.#vocabulary.leaves.has(each));
  }

  /** `<3` is text, although the tokenizer reads it as a tag: the text up to the next end tag belongs to it. */
  #closeSwallowed(end: number): void {
    const endTag = this.#source.slice(this.#tagStart, end).lastIndexOf('</');
    this.#addText(this.#tagStart, endTag === -1 ? end : this.#tagStart + endTag, 'text');
    if (endTag !== -1) this.#close(this.#tagStart + endTag + 2, end - 1);
  }

  /** `source` contains text in RSS and elements in Atom. */
  #isContainer(name: string): boolean {
    return this.#vocabulary.containers.has(name) || (name === 'source' && this.#rootName === 'feed');
  }

  #isItem(name: string): boolean {
    return this.#vocabulary.items.has(name);
  }

  /** Skips HTML warnings of server software before the document; a complete HTML page is an error. */
  #openRoot(tag: string): void {
    const local = tag.slice(tag.indexOf(':') + 1);
    this.#firstName ??= /^[a-z][\w:.-]*$/.test(tag) ? tag.slice(0, 40) : 'something';
    if (local === 'html' || local === 'head' || local === 'body') {
      this.#stop('The URL returns an HTML page.');
    } else if (this.#vocabulary.roots.has(local)) {
      this.#root = { ...{ name: local, text: '', children: [] }, attributes: this.#resolvedAttributes() };
      // Accepts an Atom feed with an undeclared prefix.
      if (local === 'feed' && local !== tag)
        this.#namespaces.declare(tag.slice(0, tag.indexOf(':')), 'http://www.w3.org/2005/Atom');
      this.#push(this.#namespaces.canonical(tag, this.#rootName), this.#root, false);
    }
  }

  #openContainer(name: string, isEmpty: boolean): void {
    const { maxItems, maxContainers } = this.#vocabulary;
    if (++this.#containers > maxContainers) {
      this.#stop(`The document has more than ${maxContainers} elements like <${name}>.`);
      return;
    }
    if (this.#isItem(name)) {
      if (this.#items === maxItems || this.#leaves >= MAX_LEAVES) {
        this.#stop(null);
        return;
      }
      this.#items++;
      this.#isInItem = true;
      this.#written = 0;
    }
    const container: Container = { ...{ name, text: '', children: [] }, attributes: this.#resolvedAttributes() };
    this.#add(container);
    this.#push(name, container, false);
    if (isEmpty) this.#closeDownTo(this.#open.size - 1);
  }

  #openLeaf(name: string, { endName, end, isEmpty }: { endName: string; end: number; isEmpty: boolean }): void {
    const max = this.#isInItem ? MAX_LEAVES_PER_ITEM : MAX_LEAVES_OUTSIDE;
    if (++this.#written > max) this.#push(endName, null, isEmpty);
    else {
      this.#leaves++;
      this.#leaf = newLeaf({ name, endName, start: end, attributes: this.#resolvedAttributes() });
      if (isEmpty) this.#endLeaf(end);
    }
  }

  /** `container` is null for an element that is skipped. */
  #push(name: string, container: Container | null, isEmpty: boolean): void {
    if (!isEmpty) this.#open.push({ name, container });
  }

  #add(element: Element): void {
    this.#open.last?.container?.children.push(element);
  }

  #resolvedAttributes(): Map<string, string> {
    return new Map([...this.#attributes].map(([name, value]) => [name, resolveEntities(value).trim()]));
  }

  get #rootName(): string | null {
    return this.#root?.name ?? null;
  }

  /** Whether a start tag with this name means that the leaf's end tag is missing. */
  #endsLeaf(name: string): boolean {
    if (this.#isItem(name)) return true;
    const leaf = this.#leaf;
    return leaf !== null && FLAT_LEAVES.has(leaf.endName) && this.#vocabulary.leaves.has(name);
  }

  #closeOpenItem(): void {
    const index = this.#open.findIndex((element) => this.#isItem(element.name));
    if (index !== -1) this.#closeDownTo(index);
    // A skipped element without an end tag must not swallow the following items.
    const skipped = this.#open.findIndex((element) => element.container === null);
    if (skipped !== -1) this.#closeDownTo(skipped);
  }

  #close(start: number, end: number): void {
    if (this.#root === null || end - start > MAX_NAME_LENGTH) return;
    const name = this.#namespaces.canonical(this.#source.slice(start, end).trim().toLowerCase(), this.#rootName);
    const leaf = this.#leaf;
    const tagStart = this.#source.lastIndexOf('<', start);
    if (leaf !== null && name === leaf.endName) {
      if (leaf.depth === 0) this.#endLeaf(tagStart);
      else leaf.depth--;
      return;
    }
    const index = this.#open.indexOf(name);
    if (index === -1) return;
    this.#endLeaf(tagStart);
    this.#closeDownTo(index);
  }

  #closeDownTo(depth: number): void {
    while (this.#open.size > depth) {
      const element = this.#open.pop();
      if (element?.container && this.#isItem(element.name)) this.#isInItem = false;
    }
  }

  #addText(start: number, end: number, kind: 'text' | 'cdata'): void {
    const leaf = this.#leaf;
    if (leaf === null || leaf.hasMarkup) return;
    addText(leaf, this.#source.slice(start, Math.min(end, start + leaf.left)), kind);
  }

  #endLeaf(end: number): void {
    const leaf = this.#leaf;
    if (leaf === null) return;
    this.#leaf = null;
    const markup = leaf.hasMarkup ? this.#source.slice(leaf.start, Math.min(end, leaf.start + MAX_TEXT_LENGTH)) : null;
    this.#add(elementOf(leaf, markup));
  }
}
