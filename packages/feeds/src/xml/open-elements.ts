// The stack of open elements, with constant-time lookup of names that are not open.
import type { Element } from './element.ts';

/** An element while its children are read. */
export interface Container extends Element {
  readonly children: Element[];
}

export interface OpenElement {
  /** In its end tag. */
  readonly name: string;
  /** Null if the element is skipped. */
  readonly container: Container | null;
}

export class OpenElements {
  readonly #stack: OpenElement[] = [];
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#stack.length;
  }

  get last(): OpenElement | undefined {
    return this.#stack.at(-1);
  }

  push(element: OpenElement): void {
    this.#stack.push(element);
    this.#counts.set(element.name, (this.#counts.get(element.name) ?? 0) + 1);
  }

  pop(): OpenElement | undefined {
    const element = this.#stack.pop();
    if (element === undefined) return undefined;
    const count = this.#counts.get(element.name) ?? 0;
    if (count <= 1) this.#counts.delete(element.name);
    else this.#counts.set(element.name, count - 1);
    return element;
  }

  /** The innermost element with a name, or -1. A million unmatched end tags must not each scan the stack. */
  indexOf(name: string): number {
    return this.#counts.has(name) ? this.#stack.findLastIndex((element) => element.name === name) : -1;
  }

  findIndex(fits: (element: OpenElement) => boolean): number {
    return this.#stack.findIndex(fits);
  }
}
