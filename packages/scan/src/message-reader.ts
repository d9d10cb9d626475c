// Reads a DNS message front to back (RFC 1035 §4.1); whatever does not add up is `Malformed`, never a wrong value.

/** Thrown while reading a message; caught where the message came in. */
export class Malformed extends Error {
  override name = 'Malformed';
}

// RFC 1035 §2.3.4: a name has at most 255 bytes on the wire.
const MAX_NAME_BYTES = 255;
const POINTER_BITS = 0xc0;
const DOT = 0x2e;
const BACKSLASH = 0x5c;

/** A position in a message. Every read moves it and checks that the bytes are there. */
export class MessageReader {
  readonly bytes: Buffer;
  offset = 0;

  constructor(bytes: Buffer, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
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
   * A name in lower case without trailing dot (`''` is the root). Compression pointers may only point before the
   * labels they end, so every chain of them terminates. Bytes that are no plain host name characters, a dot inside a
   * label among them, come as `\DDD` (RFC 1035 §5.1), so that no label can pass for two.
   */
  name(): string {
    const { bytes } = this;
    let at = this.offset;
    let runStart = at;
    let end = -1;
    let wireLength = 1;
    let name = '';
    for (;;) {
      const length = bytes[at];
      if (length === undefined) throw new Malformed('a name runs past the end');
      if (length === 0) break;
      if ((length & POINTER_BITS) === POINTER_BITS) {
        const low = bytes[at + 1];
        if (low === undefined) throw new Malformed('a name runs past the end');
        const target = ((length & ~POINTER_BITS) << 8) | low;
        if (target >= runStart) throw new Malformed('a compression pointer does not point back');
        if (end < 0) end = at + 2;
        at = target;
        runStart = target;
        continue;
      }
      if ((length & POINTER_BITS) !== 0) throw new Malformed('a label has an unknown form');
      wireLength += length + 1;
      if (wireLength > MAX_NAME_BYTES) throw new Malformed('a name is longer than 255 bytes');
      const next = at + 1 + length;
      if (next > bytes.length) throw new Malformed('a name runs past the end');
      const label = readLabel(bytes, at + 1, next);
      name = name === '' ? label : `${name}.${label}`;
      at = next;
    }
    this.offset = end < 0 ? at + 1 : end;
    return name;
  }

  need(count: number): void {
    if (this.offset + count > this.bytes.length) throw new Malformed('the message is shorter than it says');
  }
}

function readLabel(bytes: Buffer, start: number, end: number): string {
  let isPlain = true;
  let hasUpper = false;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x41 && byte <= 0x5a) hasUpper = true;
    else if (byte <= 0x20 || byte >= 0x7f || byte === DOT || byte === BACKSLASH) isPlain = false;
  }
  if (!isPlain) return escapeLabel(bytes.subarray(start, end));
  const label = bytes.toString('latin1', start, end);
  return hasUpper ? label.toLowerCase() : label;
}

function escapeLabel(label: Uint8Array): string {
  let text = '';
  for (const byte of label) {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== DOT && byte !== BACKSLASH;
    text += isPlain ? String.fromCharCode(byte).toLowerCase() : `\\${String(byte).padStart(3, '0')}`;
  }
  return text;
}
