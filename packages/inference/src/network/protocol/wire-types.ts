// The messages of frame-proto.ts as tables for the reader and the writer, and limits for all of them. Encoding:
// https://protobuf.dev/programming-guides/encoding/
import protobuf from 'protobufjs';
import { FRAME_PROTO } from './frame-proto.ts';

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

/** Fields of 32 bytes that are hexadecimal strings in TypeScript. */
const DIGESTS: ReadonlySet<string> = new Set([
  'modelSha256',
  'promptSha256',
  'requestSha256',
  'vocabularySha256',
  'templateSha256',
  'chainHead',
  'sha256',
]);

const { root } = protobuf.parse(FRAME_PROTO, { keepCase: false });
root.resolveAll();

/** The message with this name. */
export function wireType(name: string): WireType {
  return tableOf(root.lookupType(`strata.inference.v1.${name}`));
}

function tableOf(type: protobuf.Type): WireType {
  const fields = type.fieldsArray
    .map((field): WireField => {
      const message = field.resolvedType instanceof protobuf.Type ? tableOf(field.resolvedType) : undefined;
      return {
        number: field.id,
        name: field.name,
        type: message ?? (DIGESTS.has(field.name) ? 'digest' : (field.type as Scalar)),
        isRepeated: field.repeated,
        hasAbsence: message !== undefined || field.partOf !== null,
      };
    })
    .sort((a, b) => a.number - b.number);
  return { fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
}
