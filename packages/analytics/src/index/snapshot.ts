// The serialised index, for a fast start: columns and history. Derived data is computed after reading.
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, type RoleOf, SECTORS } from '@strata/detect';
import { Builds, type BuildWord } from '../columns/builds.ts';
import { DomainColumns } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import { LEVELS, STATES, Vocabulary } from '../columns/terms.ts';
import { ChangeHistory } from '../history/change-history.ts';
import { DomainIndex, type IndexPosition } from './domain-index.ts';
import { checkColumns, type SnapshotColumns } from './snapshot-columns.ts';

/** Incremented with every change of the format or of the stored form of a score. */
export const SNAPSHOT_VERSION = 8;

/**
 * The lists whose indexes are stored instead of their strings: with different lists the same numbers would change
 * meaning.
 */
const WORDS = JSON.stringify([CATEGORIES, SECTORS, STATES, LEVELS, POSTURE_FLAGS, HOLDERS]);

interface Header {
  readonly version: number;
  readonly storeId: string;
  readonly words: string;
  readonly position: IndexPosition;
  readonly providers: readonly string[];
  readonly placements: readonly (readonly [category: number, provider: number])[];
  readonly builds: readonly (BuildWord | null)[];
  readonly history: ReturnType<ChangeHistory['columns']>['lists'];
  readonly columns: readonly { readonly name: string; readonly type: keyof typeof TYPES; readonly length: number }[];
}

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
type Column = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
/** Every column begins at a multiple of the widest number. */
const ALIGN = 8;

/** Layout: length of the header (4 bytes, little-endian), header (JSON), columns, each aligned to 8 bytes. */
export function encodeSnapshot(index: DomainIndex, storeId: string): Uint8Array {
  const history = index.history.columns();
  const columns = {
    ...index.names.columns(),
    ...index.columns.arrays(index.names.limit),
    ...history.columns,
  } satisfies SnapshotColumns;
  const header: Header = {
    version: SNAPSHOT_VERSION,
    storeId,
    words: WORDS,
    position: index.position,
    providers: index.vocabulary.providers.words(),
    placements: index.vocabulary.placements.map(({ category, provider }) => [category, provider]),
    builds: index.builds.words(),
    history: history.lists,
    columns: Object.entries(columns).map(([name, column]) => ({ name, type: typeOf(column), length: column.length })),
  };
  const head = new TextEncoder().encode(JSON.stringify(header));
  let size = aligned(4 + head.length);
  for (const column of Object.values(columns)) size = aligned(size + column.byteLength);
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  let at = aligned(4 + head.length);
  for (const column of Object.values(columns)) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at = aligned(at + column.byteLength);
  }
  return bytes;
}

/**
 * The index of a snapshot, with the roles of the present rulebook; undefined for another version or another store. Throws for truncated or inconsistent bytes. The
 * caller verifies a checksum against alterations.
 */
export function decodeSnapshot(bytes: Uint8Array, storeId: string, roleOf?: RoleOf): DomainIndex | undefined {
  if (bytes.length < 4) throw new Error('the snapshot is truncated');
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Header;
  if (header.version !== SNAPSHOT_VERSION || header.storeId !== storeId || header.words !== WORDS) return undefined;
  const columns = readColumns(bytes, { from: aligned(4 + length), columns: header.columns });
  const { history: lists, providers, placements, builds, position } = header;
  checkColumns(columns, { ...lists, providerNames: providers, placements, builds, position });
  const index = new DomainIndex({
    names: new NameTable(columns),
    columns: new DomainColumns(columns),
    vocabulary: new Vocabulary(providers, placements, roleOf),
    builds: new Builds(builds),
    history: new ChangeHistory({ columns, lists }),
  });
  index.position = position;
  return index;
}

function readColumns(
  bytes: Uint8Array,
  { from, columns: layout }: { readonly from: number; readonly columns: Header['columns'] },
): SnapshotColumns {
  const columns: Record<string, Column> = {};
  let at = from;
  for (const { name, type, length } of layout) {
    const Type = TYPES[type];
    const size = length * Type.BYTES_PER_ELEMENT;
    // A copy: the bytes may be unaligned, and the index must not keep the entire file in memory.
    const copy = new Uint8Array(bytes.subarray(at, at + size));
    columns[name] = new Type(copy.buffer, 0, length);
    at = aligned(at + size);
  }
  if (at !== bytes.length) throw new Error('the snapshot is truncated or has trailing bytes');
  return columns as unknown as SnapshotColumns;
}

function typeOf(column: Column): keyof typeof TYPES {
  if (column instanceof Uint8Array) return 'u8';
  if (column instanceof Uint16Array) return 'u16';
  return column instanceof Uint32Array ? 'u32' : 'f64';
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGN) * ALIGN;
}
