// Reads a DNS message sequentially (RFC 1035 §4.1); any inconsistency throws `Malformed`.

/** Thrown while a message is read; caught where the message was received. */
export class Malformed extends Error {
  override name = 'Malformed';
}

// RFC 1035 §2.3.4: a name has at most 255 bytes on the wire.
const MAX_NAME_BYTES = 255;
const POINTER_BITS = 0xc0;
const DOT = 0x2e;
const BACKSLASH = 0x5c;
const DIGIT_0 = 0x30;
const CASE_BIT = 0x20;
/** Buffer for decoded names: each byte takes at most four characters. */
const scratch = Buffer.alloc(4 * MAX_NAME_BYTES);

/** A decoded name, and its offset in the message. */
export interface KnownName {
  readonly start: number;
  readonly name: string;
}

/** A position in a message. Every read advances it and checks that enough bytes are left. */
export class MessageReader {
  readonly bytes: Buffer;
  offset = 0;
  /** The last name that was only a pointer: all records of an RRset have the same. */
  #knownStart = -1;
  #knownName = '';

  /** `known` must be a complete name before `offset`. */
  constructor(bytes: Buffer, offset: number, known?: KnownName) {
    this.bytes = bytes;
    this.offset = offset;
    if (known === undefined) return;
    this.#knownStart = known.start;
    this.#knownName = known.name;
  }

  u16(): number {
    this.need(2);
    const at = this.offset;
    this.offset = at + 2;
    return ((this.bytes[at] ?? 0) << 8) | (this.bytes[at + 1] ?? 0);
  }

  u32(): number {
    return this.u16() * 0x1_0000 + this.u16();
  }

  skip(count: number): void {
    this.need(count);
    this.offset += count;
  }

  /**
   * A lower-case name without trailing dot (`''` is the root). Compression pointers may only point before the labels
   * that they end, so every chain of them terminates. Bytes outside printable ASCII, a dot within a label included,
   * become `\DDD` (RFC 1035 §5.1), so that one label cannot be mistaken for two.
   */
  name(): string {
    const first = this.bytes[this.offset] ?? 0;
    const start = (first & POINTER_BITS) === POINTER_BITS ? this.#pointer(this.offset, first) : -1;
    if (start < 0) return this.#read();
    if (start === this.#knownStart) this.offset += 2;
    else {
      this.#knownName = this.#read();
      this.#knownStart = start;
    }
    return this.#knownName;
  }

  /** The offset that the pointer at `at` refers to. */
  #pointer(at: number, first: number): number {
    const low = this.bytes[at + 1];
    if (low === undefined) throw new Malformed('a name runs past the end');
    return ((first & ~POINTER_BITS) << 8) | low;
  }

  #read(): string {
    const { bytes } = this;
    let at = this.offset;
    let runStart = at;
    let end = -1;
    let wireBytes = 1;
    let written = 0;
    for (;;) {
      const length = bytes[at];
      if (length === undefined) throw new Malformed('a name runs past the end');
      if (length === 0) break;
      if ((length & POINTER_BITS) === POINTER_BITS) {
        const target = this.#pointer(at, length);
        if (target >= runStart) throw new Malformed('a compression pointer does not point back');
        if (end < 0) end = at + 2;
        at = target;
        runStart = target;
        continue;
      }
      if ((length & POINTER_BITS) !== 0) throw new Malformed('a label has an unknown form');
      wireBytes += length + 1;
      if (wireBytes > MAX_NAME_BYTES) throw new Malformed('a name is longer than 255 bytes');
      const next = at + 1 + length;
      if (next > bytes.length) throw new Malformed('a name runs past the end');
      if (written > 0) scratch[written++] = DOT;
      written = copyLabel(bytes, { start: at + 1, end: next }, written);
      at = next;
    }
    this.offset = end < 0 ? at + 1 : end;
    return scratch.toString('latin1', 0, written);
  }

  need(count: number): void {
    if (this.offset + count > this.bytes.length) throw new Malformed('the message is shorter than it says');
  }
}

/** Writes a label into the buffer from `written` on; returns its end there. */
function copyLabel(bytes: Buffer, { start, end }: { readonly start: number; readonly end: number }, written: number) {
  let to = written;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x41 && byte <= 0x5a) scratch[to++] = byte | CASE_BIT;
    else if (byte > 0x20 && byte < 0x7f && byte !== DOT && byte !== BACKSLASH) scratch[to++] = byte;
    else {
      scratch[to++] = BACKSLASH;
      scratch[to++] = DIGIT_0 + Math.floor(byte / 100);
      scratch[to++] = DIGIT_0 + (Math.floor(byte / 10) % 10);
      scratch[to++] = DIGIT_0 + (byte % 10);
    }
  }
  return to;
}
