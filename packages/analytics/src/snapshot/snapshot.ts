// The serialised index, for a fast start, in chunks: the head with everything that is not by domain; the counts; the pages
// of domains; the sets; the numbers in the order of the names; the end. Sets and counts follow from the pages: with other
// roles than those they were made with they are computed.
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, ROLE_FACTS, ROLE_LIST, ROLES, type RoleOf, SECTORS } from '@strata/detect';
import { Builds } from '../columns/builds.ts';
import { DomainColumns } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import { PackedRows } from '../columns/packed-rows.ts';
import { PAGE_SIZE, Pages } from '../columns/pages.ts';
import { LEVELS, STATES, Vocabulary } from '../columns/terms.ts';
import { ChangeHistory } from '../history/change-history.ts';
import { type DerivedParts, DomainIndex } from '../index/domain-index.ts';
import { NameGrams } from '../index/name-grams.ts';
import { PairCounts } from '../index/pair-counts.ts';
import { Tallies, type TallyColumns } from '../index/tallies.ts';
import { TermSets } from '../index/term-sets.ts';
import { TldSets } from '../index/tld-sets.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { checkHead, checkOrder, checkPage, checkTallies, type Head, type HistoryColumns } from './snapshot-checks.ts';
import { decodeChunk, encodeChunk } from './snapshot-chunk.ts';
import { columnsOfPage, type PageColumns, pageOfColumns } from './snapshot-page.ts';
import { chunksOfSets, readSets, type SetColumns, type Sets, shareSets } from './snapshot-sets.ts';

/** Incremented with every change of the format or of the stored form of a score. */
export const SNAPSHOT_VERSION = 11;

/**
 * The lists whose indexes are stored instead of their strings: with different lists the same numbers would change
 * meaning.
 */
const WORDS = JSON.stringify([
  ...[CATEGORIES, SECTORS, STATES, LEVELS, POSTURE_FLAGS, HOLDERS],
  ...[ROLE_LIST, ROLES, ROLE_LIST.map((role) => ROLE_FACTS[role].category)],
]);

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
    roles: index.vocabulary.placements.map(({ role }) => role),
    tlds: [...index.tlds.words()],
    builds: index.builds.words(),
    history: history.lists,
  };
  const { names, columns } = index;
  const parts = {
    first: [encodeChunk(head, history.columns), encodeChunk({ tallies: 1 }, index.tallies.columns())],
    sets: Object.entries(setsOf(index)).map(([kind, sets]) => [kind, shareSets(sets)] as const),
    // A later merge makes another array.
    order: names.sorted.numbers(),
    names: names.pages.freeze(),
    columns: columns.pages.freeze(),
    limit: names.limit,
  };
  return chunksOf(index, parts);
}

const setsOf = ({ sets, grams, tlds }: DomainIndex): Readonly<Record<string, Sets>> => ({
  ...sets.all,
  grams: grams.sets,
  tlds: tlds.sets,
});

interface Frozen {
  readonly first: readonly Uint8Array<ArrayBuffer>[];
  readonly sets: readonly (readonly [kind: string, sets: ReturnType<typeof shareSets>])[];
  readonly order: Uint32Array<ArrayBuffer>;
  readonly names: ReturnType<NameTable['pages']['freeze']>;
  readonly columns: ReturnType<DomainColumns['pages']['freeze']>;
  readonly limit: number;
}

function* chunksOf({ names, columns }: DomainIndex, frozen: Frozen): Generator<Uint8Array<ArrayBuffer>> {
  const { first, order, limit } = frozen;
  yield* first;
  let count = first.length;
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
  for (const [kind, sets] of frozen.sets) {
    for (const chunk of chunksOfSets(kind, sets)) {
      yield chunk;
      count += 1;
    }
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
      reading.take(about as ChunkAbout, columns as object);
      continue;
    }
    const head = about as Head;
    if (head.version !== SNAPSHOT_VERSION || head.storeId !== storeId || head.words !== WORDS) return undefined;
    reading = new Reading(head, columns as HistoryColumns);
  }
  if (!reading) throw new Error('the snapshot is truncated');
  return reading.end(roleOf);
}

interface ChunkAbout extends Readonly<Partial<Record<'page' | 'order' | 'chunks' | 'tallies', number>>> {
  readonly sets?: string;
}

class Reading {
  readonly #head: Head;
  readonly #history: HistoryColumns;
  readonly #names = new Pages(() => new PackedRows());
  #limit = 0;
  readonly #columns = new DomainColumns();
  readonly #orders: Uint32Array<ArrayBuffer>[] = [];
  /** By kind. */
  readonly #sets: Record<string, (DomainSet | undefined)[]> = {};
  #tallies: TallyColumns | undefined;
  #chunks = 1;
  #isEnded = false;

  constructor(head: Head, history: HistoryColumns) {
    checkHead(head, history);
    this.#head = head;
    this.#history = history;
  }

  take({ page, order, chunks, tallies, sets }: ChunkAbout, columns: object): void {
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
      this.#limit = Math.max(this.#limit, page * PAGE_SIZE + ofPage.nameEnds.length);
      this.#columns.pages.put(page, content);
    }
    if (tallies !== undefined) this.#tallies = columns as TallyColumns;
    if (sets !== undefined) {
      this.#sets[sets] ??= [];
      readSets(columns as SetColumns, { sets: this.#sets[sets], limit: this.#limit });
    }
    if (order !== undefined) this.#orders.push((columns as { readonly order: Uint32Array<ArrayBuffer> }).order);
  }

  end(roleOf: RoleOf | undefined): DomainIndex {
    if (!this.#isEnded) throw new Error('the snapshot is truncated');
    const order = concatenated(this.#orders);
    checkOrder(order, this.#names, this.#limit);
    const { history: lists, providers, placements, builds, position, roles } = this.#head;
    const vocabulary = new Vocabulary(providers, placements, roleOf);
    const hasSameRoles = vocabulary.placements.every(({ role, number }) => role === roles[number]);
    const index = new DomainIndex(
      {
        names: new NameTable({ pages: this.#names, limit: this.#limit, order }),
        columns: this.#columns,
        vocabulary,
        builds: new Builds(builds),
        history: new ChangeHistory({ columns: this.#history, lists }),
      },
      hasSameRoles ? this.#derived(vocabulary) : {},
    );
    index.position = position;
    return index;
  }

  #derived(vocabulary: Vocabulary): DerivedParts {
    const tallies = this.#tallies;
    if (!tallies) throw new Error('the snapshot is truncated');
    checkTallies(tallies);
    const { grams, tlds = [], ...terms } = this.#sets;
    return {
      sets: new TermSets(vocabulary, terms),
      grams: new NameGrams(grams),
      tlds: new TldSets(this.#head.tlds.map((tld, at) => [tld, tlds[at] ?? new DomainSet()])),
      tallies: new Tallies(vocabulary, new PairCounts(tallies.pairs), tallies),
    };
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
