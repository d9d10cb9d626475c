// Frames to bytes and back. What cannot be read, or says what may not be said, is a FrameError.
import protobuf from 'protobufjs';
import { Frame, Offer, SegmentReceipt } from './frame.ts';
import { FRAME_PROTO } from './frame-proto.ts';
import { fromHex, toHex } from './segment.ts';

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

const { root } = protobuf.parse(FRAME_PROTO, { keepCase: false });
const typeOf = (name: string) => root.lookupType(`strata.inference.v1.${name}`);
const types = { frame: typeOf('Frame'), offer: typeOf('Offer'), receipt: typeOf('SegmentReceipt') };
const READ: protobuf.IConversionOptions = { longs: Number, defaults: true, arrays: true, oneofs: true };

/** Fields that are digests: hex here, 32 bytes on the wire. */
const DIGESTS = [
  'modelSha256',
  'promptSha256',
  'requestSha256',
  'vocabularySha256',
  'templateSha256',
  'chainHead',
  'sha256',
] as const;

export function encodeFrame({ kind, ...body }: Frame): Uint8Array {
  return types.frame.encode({ [kind]: packed(body) }).finish();
}

export function decodeFrame(bytes: Uint8Array): Frame {
  const { kind, ...rest } = plain(types.frame, bytes);
  if (typeof kind !== 'string') throw new FrameError('a frame of no known kind');
  return checked(Frame, { kind, ...unpacked(rest[kind] as Loose) });
}

export const encodeOffer = (offer: Offer): Uint8Array =>
  types.offer.encode({ ...offer, models: offer.models.map(packed) }).finish();

export function decodeOffer(bytes: Uint8Array): Offer {
  const offer = plain(types.offer, bytes);
  return checked(Offer, { ...offer, models: (offer.models as Loose[]).map(unpacked) });
}

export const encodeSegmentReceipt = (receipt: SegmentReceipt): Uint8Array =>
  types.receipt.encode(packed(receipt)).finish();

export const decodeSegmentReceipt = (bytes: Uint8Array): SegmentReceipt =>
  checked(SegmentReceipt, unpacked(plain(types.receipt, bytes)));

type Loose = Record<string, unknown>;

function plain(type: protobuf.Type, bytes: Uint8Array): Loose {
  try {
    return type.toObject(type.decode(bytes), READ);
  } catch (cause) {
    throw new FrameError('bytes that are no frame', { cause });
  }
}

function checked<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false; error: Error } },
  value: unknown,
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new FrameError('a frame that says what it may not', { cause: result.error });
}

function packed(body: object): Loose {
  const fields: Loose = { ...body };
  for (const name of DIGESTS) if (typeof fields[name] === 'string') fields[name] = fromHex(fields[name]);
  return fields;
}

function unpacked(fields: Loose): Loose {
  for (const name of DIGESTS) if (fields[name] instanceof Uint8Array) fields[name] = toHex(fields[name]);
  return fields;
}
