// The fields of frames: bounds, and the encoding where the type alone does not determine it.
import { z } from 'zod';
import { ENCODING, type Scalar } from './wire-types.ts';

/** Upper bound of token ids, exclusive. The largest vocabularies in use have about 250,000 tokens. */
export const MAX_VOCABULARY = 2 ** 21;
const MAX_GRAMMAR_BYTES = 1_000_000;
const MAX_UINT32 = 2 ** 32 - 1;

export const Id = z.number().int().min(1).max(MAX_UINT32);
export const Uint32 = z.number().int().min(0).max(MAX_UINT32);
export const Uint64 = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const Finite = z.number();
export const TokenId = z
  .number()
  .int()
  .min(0)
  .max(MAX_VOCABULARY - 1);

export const isTokenId = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < MAX_VOCABULARY;
/** Margins in nats; 100 marks a token that could not have been sampled. */
export const isMargin = (value: unknown): boolean => Number(value) >= 0 && Number(value) <= 100;

/** A single predicate: a zod schema for each element takes longer than decoding, and prompts are long. */
export const numbersUpTo = (max: number, repeated: Scalar, isElement: (value: unknown) => boolean) =>
  z
    .custom<readonly number[]>(
      (value) => Array.isArray(value) && value.length <= max && value.every(isElement),
      'must be a list of valid numbers',
    )
    .register(ENCODING, { repeated });

const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes');
export const bytesUpTo = (max: number) => Bytes.refine(({ byteLength }) => byteLength <= max, 'too long');
const bytesOf = (length: number) => Bytes.refine((bytes) => bytes.byteLength === length, `must be ${length} bytes`);
export const Nonce = bytesOf(16);
export const Signature = bytesOf(64);
/** SHA-256 as lower-case hex; 32 bytes on the wire. */
export const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .register(ENCODING, { single: 'digest' });

export const Text = (max: number) => z.string().max(max);
const utf8 = new TextEncoder();
export const Grammar = z.string().refine(
  // A UTF-16 unit takes at most three bytes in UTF-8.
  (text) => text.length * 3 <= MAX_GRAMMAR_BYTES || utf8.encode(text).byteLength <= MAX_GRAMMAR_BYTES,
  'too long',
);
