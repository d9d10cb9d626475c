// The serialised index, for a fast start: columns and history, in chunks. Derived data is computed after reading.
// Chunks: the head with everything that is not by domain; the pages of domains; the numbers in the order of the names;
// the end.
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, type RoleOf, SECTORS } from '@strata/detect';
import { Builds } from '../columns/builds.ts';
import { DomainColumns } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import { PackedRows } from '../columns/packed-rows.ts';
import { PAGE_SIZE, Pages } from '../columns/pages.ts';
import { LEVELS, STATES, Vocabulary } from '../columns/terms.ts';
import { ChangeHistory } from '../history/change-history.ts';
import { DomainIndex } from './domain-index.ts';
import { checkHead, checkOrder, checkPage, type Head, type HistoryColumns } from './snapshot-checks.ts';
import { decodeChunk, encodeChunk } from './snapshot-chunk.ts';
import { columnsOfPage, type PageColumns, pageOfColumns } from './snapshot-page.ts';

/** Incremented with every change of the format or of the stored form of a score. */
export const SNAPSHOT_VERSION = 9;

/**
 * The lists whose indexes are stored instead of their strings: with different lists the same numbers would change
 * meaning.
 */
const WORDS = JSON.stringify([CATEGORIES, SECTORS, STATES, LEVELS, POSTURE_FLAGS, HOLDERS]);

/** Numbers in the order of the names per chunk: 4 MiB. */
const ORDER_AT_ONCE = 1 << 20;

/**
 * The index as it is now. It may change while the chunks are read: a page is copied before a change, until its chunk has
 * been read. One snapshot at a time.
 */
export function encodeSnapshot(index: DomainIndex, storeId: string): Iterable<Uint8Array<ArrayBuffer>> {
  const history = index.history.columns();
  const head: Head = {
    version: SNAPSHOT_VERSION,
    storeId,
    words: WORDS,
    position: index.position,
    providers: index.vocabulary.providers.words(),
    placements: index.vocabulary.placements.map(({ category, provider }) => [category, provider]),
    builds: index.builds.words(),
    history: history.lists,
  };
  const { names, columns } = index;
  const parts = {
    first: encodeChunk(head, history.columns),
    // A later merge makes another array.
    order: names.sorted.numbers(),
    names: names.pages.freeze(),
    columns: columns.pages.freeze(),
    limit: names.limit,
  };
  return chunksOf(index, parts);
}

interface Frozen {
  readonly first: Uint8Array<ArrayBuffer>;
  readonly order: Uint32Array<ArrayBuffer>;
  readonly names: ReturnType<NameTable['pages']['freeze']>;
  readonly columns: ReturnType<DomainColumns['pages']['freeze']>;
  readonly limit: number;
}

function* chunksOf({ names, columns }: DomainIndex, frozen: Frozen): Generator<Uint8Array<ArrayBuffer>> {
  const { first, order, limit } = frozen;
  yield first;
  let count = 1;
  for (const [number, ofNames] of frozen.names.entries()) {
    const page = frozen.columns[number];
    if (!ofNames || !page) continue;
    const rows = Math.min(PAGE_SIZE, limit - number * PAGE_SIZE);
    const chunk = encodeChunk({ page: number }, columnsOfPage(ofNames, page, rows));
    names.pages.thaw(ofNames);
    columns.pages.thaw(page);
    yield chunk;
    count += 1;
  }
  for (let from = 0; from < order.length; from += ORDER_AT_ONCE) {
    yield encodeChunk({ order: from }, { order: order.subarray(from, from + ORDER_AT_ONCE) });
    count += 1;
  }
  yield encodeChunk({ chunks: count }, {});
}

/**
 * The index of a snapshot, with the roles of the present rulebook; undefined for another version or another store. Throws
 * for missing, truncated or inconsistent chunks. The caller verifies checksums against alterations.
 */
export async function decodeSnapshot(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  storeId: string,
  roleOf?: RoleOf,
): Promise<DomainIndex | undefined> {
  let reading: Reading | undefined;
  for await (const bytes of chunks) {
    const { about, columns } = decodeChunk(bytes);
    if (reading) {
      reading.take(about as Partial<Record<string, number>>, columns as object);
      continue;
    }
    const head = about as Head;
    if (head.version !== SNAPSHOT_VERSION || head.storeId !== storeId || head.words !== WORDS) return undefined;
    reading = new Reading(head, columns as HistoryColumns);
  }
  if (!reading) throw new Error('the snapshot is truncated');
  return reading.end(roleOf);
}

class Reading {
  readonly #head: Head;
  readonly #history: HistoryColumns;
  readonly #names = new Pages(() => new PackedRows());
  #limit = 0;
  readonly #columns = new DomainColumns();
  readonly #orders: Uint32Array<ArrayBuffer>[] = [];
  #chunks = 1;
  #isEnded = false;

  constructor(head: Head, history: HistoryColumns) {
    checkHead(head, history);
    this.#head = head;
    this.#history = history;
  }

  take({ page, order, chunks }: Partial<Record<string, number>>, columns: object): void {
    if (this.#isEnded) throw new Error('the snapshot has trailing chunks');
    if (chunks !== undefined) {
      if (chunks !== this.#chunks) throw new Error('the snapshot is truncated: chunks are missing');
      this.#isEnded = true;
      return;
    }
    this.#chunks += 1;
    if (page !== undefined) {
      // Checked next.
      const ofPage = columns as PageColumns;
      checkPage(page, ofPage, this.#head);
      const { names, page: content } = pageOfColumns(ofPage);
      this.#names.put(page, names);
      this.#limit = Math.max(this.#limit, page * PAGE_SIZE + ofPage.state.length);
      this.#columns.pages.put(page, content);
    }
    if (order !== undefined) this.#orders.push((columns as { readonly order: Uint32Array<ArrayBuffer> }).order);
  }

  end(roleOf: RoleOf | undefined): DomainIndex {
    if (!this.#isEnded) throw new Error('the snapshot is truncated');
    const order = concatenated(this.#orders);
    checkOrder(order, this.#names, this.#limit);
    const { history: lists, providers, placements, builds, position } = this.#head;
    const index = new DomainIndex({
      names: new NameTable({ pages: this.#names, limit: this.#limit, order }),
      columns: this.#columns,
      vocabulary: new Vocabulary(providers, placements, roleOf),
      builds: new Builds(builds),
      history: new ChangeHistory({ columns: this.#history, lists }),
    });
    index.position = position;
    return index;
  }
}

function concatenated(parts: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
