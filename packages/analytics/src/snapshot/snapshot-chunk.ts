// A chunk of a snapshot: a small JSON object, and arrays. Layout: length of the head (4 bytes, little-endian), head,
// arrays, each aligned to 8 bytes.

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
export type Column =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;
type Columns = Readonly<Record<string, Column>>;
/** Every column begins at a multiple of the widest number. */
const ALIGN = 8;

interface Head {
  readonly about: unknown;
  readonly columns: readonly { readonly name: string; readonly type: keyof typeof TYPES; readonly length: number }[];
}

export function encodeChunk(about: object, columns: Columns): Uint8Array<ArrayBuffer> {
  const head = {
    about,
    columns: Object.entries(columns).map(([name, column]) => ({ name, type: typeOf(column), length: column.length })),
  } satisfies Head;
  const text = new TextEncoder().encode(JSON.stringify(head));
  let size = aligned(4 + text.length);
  for (const column of Object.values(columns)) size = aligned(size + column.byteLength);
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  let at = aligned(4 + text.length);
  for (const column of Object.values(columns)) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at = aligned(at + column.byteLength);
  }
  return bytes;
}

/** The object is what it was encoded from; the columns are copies. Throws for truncated bytes. */
export function decodeChunk(bytes: Uint8Array): { readonly about: unknown; readonly columns: Columns } {
  if (bytes.length < 4) throw new Error('the snapshot is truncated');
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Head;
  const columns: Record<string, Column> = {};
  let at = aligned(4 + length);
  for (const { name, type, length: count } of head.columns) {
    const Type = TYPES[type];
    const size = count * Type.BYTES_PER_ELEMENT;
    // A copy: the bytes may be unaligned, and the index must not keep the entire chunk in memory.
    const copy = new Uint8Array(bytes.subarray(at, at + size));
    columns[name] = new Type(copy.buffer, 0, count);
    at = aligned(at + size);
  }
  if (at !== bytes.length) throw new Error('the snapshot is truncated or has trailing bytes');
  return { about: head.about, columns };
}

function typeOf(column: Column): keyof typeof TYPES {
  if (column instanceof Uint8Array) return 'u8';
  if (column instanceof Uint16Array) return 'u16';
  return column instanceof Uint32Array ? 'u32' : 'f64';
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGN) * ALIGN;
}
