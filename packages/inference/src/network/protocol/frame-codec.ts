// Encodes and decodes frames. Malformed bytes and invalid values throw FrameError.
import { Frame, SegmentReceipt } from './frame.ts';
import { Offer } from './offer.ts';
import { type Loose, readMessage } from './wire-reader.ts';
import { FrameError, wireType, wireTypeOfKinds } from './wire-types.ts';
import { writeMessage } from './wire-writer.ts';

export { FrameError, type FrameErrorCode } from './wire-types.ts';

const types = { frame: wireTypeOfKinds(Frame.options), offer: wireType(Offer), receipt: wireType(SegmentReceipt) };

/** Throws FrameError for a frame that a receiver would reject: it would close the channel, with all requests on it. */
export function encodeFrame(frame: Frame): Uint8Array {
  const { kind, ...body } = checked(Frame, frame);
  return writeMessage(types.frame, { [kind]: body });
}

/** Throws FrameError. */
export function decodeFrame(bytes: Uint8Array): Frame {
  const kinds = Object.entries(readMessage(types.frame, bytes));
  const [only] = kinds;
  if (!only) throw new FrameError('unknown-kind', 'a frame of an unknown kind');
  if (kinds.length > 1) throw new FrameError('malformed', 'two frames in one');
  const [kind, body] = only;
  return checked(Frame, { kind, ...(body as Loose) });
}

/** Throws FrameError. */
export const encodeOffer = (offer: Offer): Uint8Array => writeMessage(types.offer, checked(Offer, offer));
/** Throws FrameError. */
export const decodeOffer = (bytes: Uint8Array): Offer => checked(Offer, readMessage(types.offer, bytes));

/** Throws FrameError. */
export const encodeSegmentReceipt = (receipt: SegmentReceipt): Uint8Array =>
  writeMessage(types.receipt, checked(SegmentReceipt, receipt));
/** Throws FrameError. */
export const decodeSegmentReceipt = (bytes: Uint8Array): SegmentReceipt =>
  checked(SegmentReceipt, readMessage(types.receipt, bytes));

function checked<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false; error: Error } },
  value: unknown,
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new FrameError('not-allowed', 'a frame with an invalid field', { cause: result.error });
}
