// Writes a GGUF's little-endian bytes and its metadata values.

export const ALIGNMENT = 32;

type Metadata = readonly (readonly [name: string, write: (writer: Writer) => void])[];

/** Types of metadata values, by their numbers in the format. */
const KINDS = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;
export const text = (value: string) => (writer: Writer) => {
  writer.u32(KINDS.string);
  writer.string(value);
};
export const u32 = (value: number) => (writer: Writer) => {
  writer.u32(KINDS.u32);
  writer.u32(value);
};
export const f32 = (value: number) => (writer: Writer) => {
  writer.u32(KINDS.f32);
  writer.bytes(new Uint8Array(new Float32Array([value]).buffer));
};
export const bool = (value: boolean) => (writer: Writer) => {
  writer.u32(KINDS.bool);
  writer.bytes(Uint8Array.of(Number(value)));
};
export const texts = (values: readonly string[]) => (writer: Writer) => {
  writer.array(KINDS.string, values.length);
  for (const value of values) writer.string(value);
};
export const numbers = (values: readonly number[]) => (writer: Writer) => {
  writer.array(KINDS.i32, values.length);
  for (const value of values) writer.u32(value);
};

export function aligned(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

/** Little-endian, growing. */
export class Writer {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  bytes(part: Uint8Array): void {
    this.#parts.push(part);
    this.#size += part.length;
  }

  u32(value: number): void {
    this.bytes(new Uint8Array(Uint32Array.of(value).buffer));
  }

  u64(value: number): void {
    this.bytes(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }

  string(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.u64(bytes.length);
    this.bytes(bytes);
  }

  array(kind: number, length: number): void {
    this.u32(KINDS.array);
    this.u32(kind);
    this.u64(length);
  }

  /** Magic, version, the number of tensors, and the metadata. */
  head(metadata: Metadata, tensors: number): void {
    this.bytes(new TextEncoder().encode('GGUF'));
    this.u32(3);
    this.u64(tensors);
    this.u64(metadata.length);
    for (const [name, write] of metadata) {
      this.string(name);
      write(this);
    }
  }

  pad(): void {
    this.bytes(new Uint8Array(aligned(this.#size) - this.#size));
  }

  finish(): Uint8Array {
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}
