// The index as bytes, to start from: columns and history; what follows from them is made anew when it is read.
import { ChangeHistory } from './change-history.ts';
import { type ColumnArrays, DomainColumns } from './domain-columns.ts';
import { DomainIndex, type IndexPosition } from './domain-index.ts';
import { NameTable } from './name-table.ts';
import { Vocabulary } from './terms.ts';

/** Changes with every change of what is written, of the vocabulary's fixed words and of how a score is kept. */
export const SNAPSHOT_VERSION = 1;

interface Header {
  readonly version: number;
  readonly storeId: string;
  readonly position: IndexPosition;
  readonly providers: readonly string[];
  readonly placements: readonly (readonly [number, number])[];
  readonly history: ReturnType<ChangeHistory['columns']>['lists'];
  readonly columns: readonly { readonly name: string; readonly type: keyof typeof TYPES; readonly length: number }[];
}

const TYPES = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array } as const;
type Column = Uint8Array | Uint32Array | Float64Array;
/** Every column begins at a multiple of the widest number. */
const ALIGN = 8;

/** Layout: length of the header (4 bytes, little-endian), header (JSON), columns, each aligned to 8 bytes. */
export function encodeSnapshot(index: DomainIndex, storeId: string): Uint8Array {
  const history = index.history.columns();
  const columns: Record<string, Column> = { ...index.names.columns(), ...index.columns.arrays(), ...history.columns };
  const header: Header = {
    version: SNAPSHOT_VERSION,
    storeId,
    position: index.position,
    providers: index.vocabulary.providers.words(),
    placements: index.vocabulary.placements.map(({ category, provider }) => [category, provider]),
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
 * The index of a snapshot; undefined when it is of another version or another store. The caller has checked that the
 * bytes are whole; ones that are not what `encodeSnapshot` made throw.
 */
export function decodeSnapshot(bytes: Uint8Array, storeId: string): DomainIndex | undefined {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Header;
  if (header.version !== SNAPSHOT_VERSION || header.storeId !== storeId) return undefined;
  const columns: Record<string, Column> = {};
  let at = aligned(4 + length);
  for (const { name, type, length: count } of header.columns) {
    const Type = TYPES[type];
    const size = count * Type.BYTES_PER_ELEMENT;
    // A copy: the bytes need not lie aligned, and the index must not keep the whole file alive.
    const copy = new Uint8Array(size);
    copy.set(bytes.subarray(at, at + size));
    columns[name] = new Type(copy.buffer);
    at = aligned(at + size);
  }
  const index = new DomainIndex({
    names: NameTable.from(columns as unknown as Parameters<typeof NameTable.from>[0]),
    columns: DomainColumns.from(columns as unknown as ColumnArrays),
    vocabulary: new Vocabulary(header.providers, header.placements),
    history: ChangeHistory.from({
      columns: columns as unknown as Parameters<typeof ChangeHistory.from>[0]['columns'],
      lists: header.history,
    }),
  });
  index.position = header.position;
  return index;
}

function typeOf(column: Column): keyof typeof TYPES {
  if (column instanceof Uint8Array) return 'u8';
  return column instanceof Uint32Array ? 'u32' : 'f64';
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGN) * ALIGN;
}
