// Decodes messages with a WireType table. Written for untrusted input: one pass, recursion only as deep as the schema,
// counts checked before memory is allocated, and only one reading per field, so that two implementations never decode
// the same bytes differently.
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  FIXED32,
  FIXED64,
  FrameError,
  LENGTH,
  MAX_FRAME_BYTES,
  MAX_MESSAGES,
  MAX_NUMBERS,
  type Scalar,
  VARINT,
  WIRE_OF,
  type WireField,
  type WireType,
} from './wire-types.ts';

export type Loose = Record<string, unknown>;

const ZERO: Readonly<Record<Scalar, () => unknown>> = {
  ...{ uint32: () => 0, uint64: () => 0, double: () => 0, float: () => 0, bool: () => false },
  ...{ string: () => '', bytes: () => new Uint8Array(), digest: () => '' },
};
const MAX_UINT32 = 2 ** 32 - 1;

/** Throws FrameError. Unknown fields are skipped; absent fields are zero or empty, unless absence is significant. */
export function readMessage(type: WireType, bytes: Uint8Array): Loose {
  if (bytes.byteLength > MAX_FRAME_BYTES) throw new FrameError('too-large', `${bytes.byteLength} bytes`);
  return new Reader(bytes).message(type, bytes.byteLength);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #numbers = 0;
  #messages = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  message(type: WireType, end: number): Loose {
    const result: Loose = {};
    while (this.#at < end) {
      const tag = this.#varint(end, MAX_UINT32);
      const field = type.byNumber.get(tag >>> 3);
      if (!field) this.#skip(tag, end);
      else if (field.isRepeated) this.#element(field, tag & 7, end, result);
      else {
        // Parsers may take the first or the last value, or merge them. No encoder writes a field twice.
        if (result[field.name] !== undefined) throw new FrameError('malformed', `${field.name} twice`);
        result[field.name] = this.#value(field, tag & 7, end);
      }
    }
    for (const { name, type: kind, isRepeated, hasAbsence } of type.fields) {
      if (result[name] !== undefined || (hasAbsence && !isRepeated)) continue;
      result[name] = isRepeated ? [] : ZERO[kind as Scalar]();
    }
    return result;
  }

  #value({ type, name }: WireField, wire: number, end: number): unknown {
    const isMessage = typeof type === 'object';
    if (wire !== (isMessage ? LENGTH : WIRE_OF[type]))
      throw new FrameError('malformed', `${name} has the wrong wire type`);
    if (!isMessage) return this.#scalar(type, end);
    this.#messages += 1;
    if (this.#messages > MAX_MESSAGES) throw new FrameError('too-large', 'too many messages');
    const within = this.#length(end);
    return this.message(type, within);
  }

  /** One element, or a packed list of numbers: decoders must accept both. */
  #element(field: WireField, wire: number, end: number, result: Loose): void {
    const { type, name } = field;
    result[name] ??= [];
    const list = result[name] as unknown[];
    if (typeof type === 'object') {
      list.push(this.#value(field, wire, end));
      return;
    }
    const isPacked = wire === LENGTH && WIRE_OF[type] !== LENGTH;
    const until = isPacked ? this.#length(end) : end;
    this.#numbers += isPacked ? this.#packed(type, until) : 1;
    if (this.#numbers > MAX_NUMBERS) throw new FrameError('too-large', 'too many numbers');
    if (!isPacked) list.push(this.#value(field, wire, end));
    else while (this.#at < until) list.push(this.#scalar(type, until));
  }

  /** The number of elements up to `until`: each varint has exactly one byte without the highest bit. */
  #packed(type: Scalar, until: number): number {
    if (WIRE_OF[type] !== VARINT) return (until - this.#at) / (type === 'float' ? 4 : 8);
    let count = 0;
    for (let at = this.#at; at < until; at += 1) if ((this.#bytes[at] as number) < 0x80) count += 1;
    return count;
  }

  #scalar(type: Scalar, end: number): unknown {
    switch (type) {
      case 'uint32':
        return this.#varint(end, MAX_UINT32);
      case 'uint64':
        return this.#varint(end, Number.MAX_SAFE_INTEGER);
      case 'bool':
        return this.#varint(end, 1) === 1;
      case 'double':
        return this.#view.getFloat64(this.#step(8, end), true);
      case 'float':
        return this.#view.getFloat32(this.#step(4, end), true);
      case 'string':
        return this.#text(end);
      case 'bytes':
        return new Uint8Array(this.#part(end));
      case 'digest':
        return bytesToHex(this.#part(end));
      default:
        throw type satisfies never;
    }
  }

  #text(end: number): string {
    const part = this.#part(end);
    try {
      return utf8.decode(part);
    } catch (cause) {
      throw new FrameError('malformed', 'text that is not UTF-8', { cause });
    }
  }

  /** A number that does not fit is rejected: truncation would produce another number. */
  #varint(end: number, max: number): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i += 1) {
      if (this.#at >= end) throw new FrameError('malformed', 'cut off');
      const byte = this.#bytes[this.#at] as number;
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > max) throw new FrameError('malformed', 'a number too large for its field');
        return value;
      }
      scale *= 128;
    }
    throw new FrameError('malformed', 'a number without an end');
  }

  #skip(tag: number, end: number): void {
    if (tag >>> 3 === 0) throw new FrameError('malformed', 'a field of number 0');
    const wire = tag & 7;
    if (wire === VARINT) this.#varint(end, Number.POSITIVE_INFINITY);
    else if (wire === FIXED64) this.#step(8, end);
    else if (wire === LENGTH) this.#part(end);
    else if (wire === FIXED32) this.#step(4, end);
    else throw new FrameError('malformed', `wire type ${wire}`);
  }

  /** Reads a length and returns the position where it ends. */
  #length(end: number): number {
    const length = this.#varint(end, MAX_FRAME_BYTES);
    if (length > end - this.#at) throw new FrameError('malformed', 'cut off');
    return this.#at + length;
  }

  #part(end: number): Uint8Array {
    const until = this.#length(end);
    const part = this.#bytes.subarray(this.#at, until);
    this.#at = until;
    return part;
  }

  #step(size: number, end: number): number {
    if (size > end - this.#at) throw new FrameError('malformed', 'cut off');
    const at = this.#at;
    this.#at += size;
    return at;
  }
}
