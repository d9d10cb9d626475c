// The elements that are open while a document is read: a stack that answers at once for a name that it has not.

export interface OpenElement {
  readonly name: string;
  /** What stands in the output; null where the element is passed over. */
  readonly written: string | null;
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

  /** The innermost of a name, -1 where there is none: a million end tags of nothing must not each walk the stack. */
  indexOf(name: string): number {
    return this.#counts.has(name) ? this.#stack.findLastIndex((element) => element.name === name) : -1;
  }

  findIndex(fits: (element: OpenElement) => boolean): number {
    return this.#stack.findIndex(fits);
  }
}
