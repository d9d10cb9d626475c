// The Protocol Buffers encoding of a zod schema, as tables for the reader and the writer, and limits for all messages.
// https://protobuf.dev/programming-guides/encoding/
import { z } from 'zod';

export type FrameErrorCode =
  /** Bytes that are not a message: truncated, groups, a number too large for its field, text that is not UTF-8. */
  | 'malformed'
  /** A frame kind that this version does not have. */
  | 'unknown-kind'
  /** A field with an invalid value, or a missing field. */
  | 'not-allowed'
  /** More bytes, numbers or messages than a frame can have. */
  | 'too-large';

/** A frame that cannot be decoded or encoded. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly code: FrameErrorCode;

  constructor(code: FrameErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Maximum size of an encoded frame, offer or receipt, and of a message on the channel. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/**
 * Maximum number of elements in all repeated number fields of a frame: prompt, answer and one end. Checked before
 * memory is allocated.
 */
export const MAX_NUMBERS = 1_000_001;
/** Maximum number of nested messages in a frame, at any depth. */
export const MAX_MESSAGES = 16_384;

export type Scalar = 'uint32' | 'uint64' | 'double' | 'float' | 'bool' | 'string' | 'bytes' | 'digest';

/** Wire types of the Protocol Buffers encoding. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

export const WIRE_OF: Readonly<Record<Scalar, number>> = {
  ...{ uint32: VARINT, uint64: VARINT, bool: VARINT, double: FIXED64, float: FIXED32 },
  ...{ string: LENGTH, bytes: LENGTH, digest: LENGTH },
};

export interface WireField {
  readonly number: number;
  readonly name: string;
  readonly type: Scalar | WireType;
  readonly isRepeated: boolean;
  /** Whether an absent field differs from zero or an empty value. */
  readonly hasAbsence: boolean;
}

export interface WireType {
  /** Sorted by field number. */
  readonly fields: readonly WireField[];
  readonly byNumber: ReadonlyMap<number, WireField>;
}

/** The encoding of a schema if its type does not determine it: digests (32 bytes, hexadecimal in TypeScript) and lists. */
export const ENCODING = z.registry<{ readonly single: Scalar } | { readonly repeated: Scalar }>();

/** Fields are numbered by their position. */
export function wireType({ shape }: z.ZodObject): WireType {
  const fields = Object.entries(shape).map(([name, schema], i) => ({
    number: i + 1,
    name,
    ...encodingOf(schema as z.ZodType),
  }));
  return { fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
}

/** The message whose only field is one of these objects, named after its `kind`. */
export function wireTypeOfKinds(kinds: readonly z.ZodObject<{ readonly kind: z.ZodLiteral<string> }>[]): WireType {
  const shape = kinds.map((schema) => [schema.shape.kind.value, schema.omit({ kind: true })] as const);
  return wireType(z.object(Object.fromEntries(shape)));
}

type Encoding = Pick<WireField, 'type' | 'isRepeated' | 'hasAbsence'>;

function encodingOf(schema: z.ZodType): Encoding {
  const registered = ENCODING.get(schema);
  if (registered && 'repeated' in registered) return { type: registered.repeated, isRepeated: true, hasAbsence: false };
  if (registered) return { type: registered.single, isRepeated: false, hasAbsence: false };
  if (schema instanceof z.ZodOptional) return { ...encodingOf(schema.unwrap() as z.ZodType), hasAbsence: true };
  if (schema instanceof z.ZodReadonly) return encodingOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray)
    return { ...encodingOf(schema.element as z.ZodType), isRepeated: true, hasAbsence: false };
  if (schema instanceof z.ZodObject) return { type: wireType(schema), isRepeated: false, hasAbsence: true };
  return { type: scalarOf(schema), isRepeated: false, hasAbsence: false };
}

function scalarOf(schema: z.ZodType): Scalar {
  if (schema instanceof z.ZodBoolean) return 'bool';
  if (schema instanceof z.ZodCustom) return 'bytes';
  if (schema instanceof z.ZodLiteral) return 'uint32';
  if (!(schema instanceof z.ZodNumber)) return 'string';
  if (!schema.isInt) return 'double';
  return (schema.maxValue ?? Number.POSITIVE_INFINITY) < 2 ** 32 ? 'uint32' : 'uint64';
}
