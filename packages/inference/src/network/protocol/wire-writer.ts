// Encodes messages with a WireType table: fields sorted by number, zero and empty values omitted, numbers packed. Every
// implementation that follows the specification writes the same bytes.

import { hexToBytes } from '@noble/hashes/utils.js';
import protobuf from 'protobufjs';
import {
  FrameError,
  LENGTH,
  MAX_FRAME_BYTES,
  MAX_MESSAGES,
  MAX_NUMBERS,
  type Scalar,
  WIRE_OF,
  type WireField,
  type WireType,
} from './wire-types.ts';

/** Throws FrameError `too-large` for a message that a receiver would reject. */
export function writeMessage(type: WireType, value: object): Uint8Array {
  return new Writer().written(type, value);
}

const utf8 = new TextEncoder();

class Writer {
  readonly #to = protobuf.Writer.create();
  #numbers = 0;
  #messages = 0;

  written(type: WireType, value: object): Uint8Array {
    this.#fields(type, value);
    if (this.#to.len > MAX_FRAME_BYTES) throw new FrameError('too-large', `${this.#to.len} bytes`);
    return this.#to.finish();
  }

  #fields(type: WireType, value: object): void {
    for (const field of type.fields) {
      const of = (value as Record<string, unknown>)[field.name];
      if (of === undefined) continue;
      if (!field.isRepeated) this.#one(field, of);
      else if (typeof field.type === 'object')
        for (const each of of as readonly object[]) this.#message(field.number, field.type, each);
      else this.#packed(field.number, field.type, of as readonly number[]);
    }
  }

  #message(number: number, type: WireType, value: object): void {
    this.#messages += 1;
    if (this.#messages > MAX_MESSAGES) throw new FrameError('too-large', 'too many messages');
    this.#to.uint32((number << 3) | LENGTH).fork();
    this.#fields(type, value);
    this.#to.ldelim();
  }

  #packed(number: number, type: Scalar, values: readonly number[]): void {
    this.#numbers += values.length;
    if (this.#numbers > MAX_NUMBERS) throw new FrameError('too-large', 'too many numbers');
    if (values.length === 0) return;
    this.#to.uint32((number << 3) | LENGTH).fork();
    for (const value of values) this.#scalar(type, value);
    this.#to.ldelim();
  }

  #one({ number, type, hasAbsence }: WireField, value: unknown): void {
    if (typeof type === 'object') this.#message(number, type, value as object);
    else if (hasAbsence || !isZero(value)) {
      this.#to.uint32((number << 3) | WIRE_OF[type]);
      this.#scalar(type, value);
    }
  }

  #scalar(type: Scalar, value: unknown): void {
    switch (type) {
      case 'uint32':
        this.#to.uint32(value as number);
        return;
      case 'uint64':
        this.#to.uint64(value as number);
        return;
      case 'double':
        this.#to.double(value as number);
        return;
      case 'float':
        this.#to.float(value as number);
        return;
      case 'bool':
        this.#to.bool(value as boolean);
        return;
      case 'string':
        // An unpaired surrogate becomes U+FFFD: the output is always valid UTF-8.
        this.#to.bytes(utf8.encode(value as string));
        return;
      case 'bytes':
        this.#to.bytes(value as Uint8Array);
        return;
      case 'digest':
        this.#to.bytes(hexToBytes(value as string));
        return;
      default:
        throw type satisfies never;
    }
  }
}

/** Negative zero is encoded, to keep its sign. */
const isZero = (value: unknown): boolean =>
  Object.is(value, 0) || value === false || value === '' || (value instanceof Uint8Array && value.byteLength === 0);
