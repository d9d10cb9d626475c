// The messages of frame-proto.ts as tables that reader and writer walk, and the bounds of all of them. Protocol Buffers' encoding:
// https://protobuf.dev/programming-guides/encoding/
import protobuf from 'protobufjs';
import { FRAME_PROTO } from './frame-proto.ts';

export type FrameErrorCode =
  /** Bytes that are no message: cut off, groups, a number too large for its field, text that is no UTF-8. */
  | 'malformed'
  /** None of the kinds of this version. */
  | 'unknown-kind'
  /** A value that a field may not have, or a field that is missing. */
  | 'not-allowed'
  /** More bytes, numbers or messages than one frame may hold. */
  | 'too-large';

/** What cannot be read, or says what may not be said. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly code: FrameErrorCode;

  constructor(code: FrameErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Of an encoded frame, offer or receipt; the channel takes no longer message. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** Elements of all repeated numbers of a frame: a prompt with its answer, and one for the end. Known before anything is kept of them. */
export const MAX_NUMBERS = 1_000_001;
/** Messages within a frame, at any depth. */
export const MAX_MESSAGES = 16_384;

export type Scalar = 'uint32' | 'uint64' | 'double' | 'float' | 'bool' | 'string' | 'bytes' | 'digest';

/** Wire types of the encoding. */
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
  /** Whether absent is something else than zero or empty. */
  readonly hasAbsence: boolean;
}

export interface WireType {
  /** In the order of their numbers. */
  readonly fields: readonly WireField[];
  readonly byNumber: ReadonlyMap<number, WireField>;
}

/** Fields of 32 bytes that are hexadecimal text here. */
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

/** The message of this name. */
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
