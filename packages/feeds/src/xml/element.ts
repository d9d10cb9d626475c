// An element of a feed or an outline: containers have children, leaves have text.
import { textOfHtml } from '../links/html-text.ts';

export interface Element {
  /** Lower-case, with the canonical prefix of its namespace. */
  readonly name: string;
  /** Entities resolved; an empty value is treated as missing. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly text: string;
  readonly children: readonly Element[];
}

/** HTML's entities; unknown ones stay text. */
export function resolveEntities(text: string): string {
  const ampersand = text.indexOf('&');
  if (ampersand === -1 || !text.includes(';', ampersand)) return text;
  return textOfHtml(text.replaceAll('<', '&lt;'), { maxCharacters: Infinity });
}

export function childrenOf(element: Element | undefined, name: string): Element[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

export function firstChild(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((child) => child.name === name);
}

/** Of the first child with this name. */
export function textOf(element: Element | undefined, name: string): string | undefined {
  return firstChild(element, name)?.text || undefined;
}

export function attributeOf(element: Element | undefined, name: string): string | undefined {
  return element?.attributes.get(name) || undefined;
}

/** Whether there is no text and no attribute, at any depth. */
export function isEmpty({ attributes, text, children }: Element): boolean {
  return text === '' && [...attributes.values()].every((value) => value === '') && children.every(isEmpty);
}
