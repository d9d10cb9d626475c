// Plain objects to bytes by a WireType: fields in the order of their numbers, zero and empty ones left out, numbers packed. So every
// implementation that follows the specification writes the same bytes.
import protobuf from 'protobufjs';
import { fromHex } from './segment.ts';
import { FrameError, MOST_FRAME_BYTES, type Scalar, type WireField, type WireType } from './wire-types.ts';

/** Throws FrameError `too-large` for what no receiver would take. */
export function writeMessage(type: WireType, value: object): Uint8Array {
  const bytes = write(type, value, protobuf.Writer.create()).finish();
  if (bytes.byteLength > MOST_FRAME_BYTES) throw new FrameError('too-large', `${bytes.byteLength} bytes`);
  return bytes;
}

const utf8 = new TextEncoder();

function write(type: WireType, value: object, writer: protobuf.Writer): protobuf.Writer {
  for (const field of type.fields) {
    const of = (value as Record<string, unknown>)[field.name];
    if (of === undefined) continue;
    if (!field.isRepeated) writeOne(field, of, writer);
    else if (typeof field.type === 'object')
      for (const each of of as readonly object[])
        write(field.type, each, writer.uint32((field.number << 3) | 2).fork()).ldelim();
    else writePacked(field, of as readonly number[], writer);
  }
  return writer;
}

function writeOne({ number, type, hasAbsence }: WireField, value: unknown, writer: protobuf.Writer): void {
  if (typeof type === 'object') {
    write(type, value as object, writer.uint32((number << 3) | 2).fork()).ldelim();
    return;
  }
  if (!hasAbsence && isZero(value)) return;
  const wire =
    type === 'double' ? 1 : type === 'float' ? 5 : typeof value === 'number' || typeof value === 'boolean' ? 0 : 2;
  writeScalar(type, value, writer.uint32((number << 3) | wire));
}

function writePacked({ number, type }: WireField, values: readonly number[], writer: protobuf.Writer): void {
  if (values.length === 0) return;
  writer.uint32((number << 3) | 2).fork();
  for (const value of values) writeScalar(type as Scalar, value, writer);
  writer.ldelim();
}

function writeScalar(type: Scalar, value: unknown, writer: protobuf.Writer): void {
  switch (type) {
    case 'uint32':
      writer.uint32(value as number);
      return;
    case 'uint64':
      writer.uint64(value as number);
      return;
    case 'double':
      writer.double(value as number);
      return;
    case 'float':
      writer.float(value as number);
      return;
    case 'bool':
      writer.bool(value as boolean);
      return;
    case 'string':
      // Half a surrogate pair becomes U+FFFD: what leaves is always UTF-8.
      writer.bytes(utf8.encode(value as string));
      return;
    case 'bytes':
      writer.bytes(value as Uint8Array);
      return;
    case 'digest':
      writer.bytes(fromHex(value as string));
      return;
    default:
      throw type satisfies never;
  }
}

/** Minus zero is not zero: it has a sign to keep. */
const isZero = (value: unknown): boolean =>
  Object.is(value, 0) || value === false || value === '' || (value instanceof Uint8Array && value.byteLength === 0);
