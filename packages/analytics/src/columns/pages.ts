// Tables are split into pages of as many domain numbers: nothing is as long as the table, a range of numbers without
// domains takes no memory, and a snapshot is written page by page while the table changes.

export const PAGE_SIZE = 4_096;

/** Of any number: shifts have 32 bits. */
export const pageOf = (number: number): number => Math.floor(number / PAGE_SIZE);
export const rowOf = (number: number): number => number & (PAGE_SIZE - 1);

interface Page {
  /** Of the same type. */
  copy(): Page;
}

export class Pages<P extends Page> {
  readonly #pages: (P | undefined)[] = [];
  readonly #create: () => P;
  /** Pages that a snapshot has not written yet: a change is made in a copy. */
  readonly #frozen = new Set<P>();

  constructor(create: () => P) {
    this.#create = create;
  }

  get count(): number {
    return this.#pages.length;
  }

  at(page: number): P | undefined {
    return this.#pages[page];
  }

  /** The page, created on first use, for a change. */
  own(page: number): P {
    const known = this.#pages[page];
    if (known && !this.#frozen.has(known)) return known;
    if (known) this.#frozen.delete(known);
    const own = known ? (known.copy() as P) : this.#create();
    while (this.#pages.length < page) this.#pages.push(undefined);
    this.#pages[page] = own;
    return own;
  }

  /** Takes ownership of a page. */
  put(page: number, content: P): void {
    while (this.#pages.length < page) this.#pages.push(undefined);
    this.#pages[page] = content;
  }

  /** Removes a page that has no domains any more. */
  drop(page: number): void {
    this.#pages[page] = undefined;
  }

  /** All pages as they are now; each stays so until `thaw`. One snapshot at a time; an earlier one is abandoned. */
  freeze(): readonly (P | undefined)[] {
    this.#frozen.clear();
    for (const page of this.#pages) if (page) this.#frozen.add(page);
    return this.#pages.slice();
  }

  /** The frozen page may change from now on. */
  thaw(page: P): void {
    this.#frozen.delete(page);
  }

  reduce(bytesOf: (page: P) => number): number {
    return this.#pages.reduce((sum, page) => sum + (page ? bytesOf(page) : 0), 0);
  }
}
