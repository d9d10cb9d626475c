// What a worker offers: its models and its load, a message that it signs. Its bytes are in the frame `signedOffer`.
import { z } from 'zod';
import { Digest, MAX_VOCABULARY, Text, Uint32, Uint64 } from './fields.ts';
import { MAX_TEXT_BYTES } from './frame.ts';

export const OfferedModel = z.object({
  name: z.string().min(1).max(200),
  sha256: Digest,
  /** Digest of the file without its tensors: a GGUF with vocabulary and chat template only. */
  vocabularySha256: Digest,
  /** Digest of the chat template, or of the empty string if the model has no template. */
  templateSha256: Digest,
  architecture: Text(100),
  quantisation: Text(50),
  sizeBytes: Uint64,
  parameters: Uint64,
  contextLength: z.number().int().min(1).max(100_000_000),
  vocabularySize: z.number().int().min(1).max(MAX_VOCABULARY),
  longestToken: z.number().int().min(1).max(MAX_TEXT_BYTES),
  /** Number of concurrent answers; larger values are rejected. */
  slots: z.number().int().min(1).max(10_000),
  prefillTokensPerSecond: z.number().min(0).max(1e9),
  decodeTokensPerSecond: z.number().min(0).max(1e9),
  engine: Text(100),
  /** Digest of the size and the hash tree of the file. Absent: the worker cannot prove chunks. */
  fileTreeSha256: Digest.optional(),
  /** The model is not loaded: the next job loads it, in about this time. Absent: it is loaded. */
  loadMs: Uint32.optional(),
  /** Estimated memory that it holds while it is loaded. Absent: unknown. */
  memoryBytes: Uint64.optional(),
  /** With `loadMs`: it is being loaded, and is loaded soon. */
  isLoading: z.boolean().optional(),
  /** What its engine cannot do, as `lacksOf` has it. Absent: nothing. */
  lacks: Uint32.optional(),
});
export type OfferedModel = z.infer<typeof OfferedModel>;

export const Offer = z.object({
  peer: z.string().min(1).max(128),
  /** Increases with each offer of this peer: an offer with a lower number is a replay. */
  sequence: Uint64,
  issuedAtMs: Uint64,
  expiresAtMs: Uint64,
  software: Text(100),
  models: z.array(OfferedModel).min(0).max(64).readonly(),
  running: Uint32,
  waiting: Uint32,
  /** Memory that its loaded models may hold, and what they and those being loaded hold. Absent: all are always loaded. */
  memoryBudgetBytes: Uint64.optional(),
  memoryHeldBytes: Uint64.optional(),
});
export type Offer = z.infer<typeof Offer>;
