// Frames between gateway and worker: what each may hold, and how large it may be. Numbers are checked here and nowhere else.
import { z } from 'zod';

/** Of the protocol; a peer with another one is told so and left. */
export const PROTOCOL_VERSION = 1;
export const PROTOCOL = '/strata/inference/1.0.0';

/** Tokens of a prompt and its answer together. With ids of three bytes they fit into one message, beside the largest grammar. */
export const MAX_TOKENS = 1_000_000;
/** Ids are below it: the largest vocabularies in use have a quarter million. */
const MAX_VOCABULARY = 2 ** 21;
/** Of one token's text. */
const MAX_TEXT_BYTES = 16_384;
const MAX_GRAMMAR_BYTES = 1_000_000;
/** Of a vocabulary in one frame, so that answers are not held up behind it. */
export const MAX_PART_BYTES = 1024 * 1024;
const MAX_ID = 2 ** 32 - 1;

const Id = z.number().int().min(1).max(MAX_ID);
const Whole = z.number().int().min(0).max(MAX_ID);
const isTokenId = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < MAX_VOCABULARY;
const TokenId = z.number().refine(isTokenId, 'must be a token id');
/** One look at each: a schema for every element takes longer than reading them, and prompts are long. */
const Tokens = z.custom<readonly number[]>(
  (value) => Array.isArray(value) && value.length <= MAX_TOKENS && value.every(isTokenId),
  'must be token ids',
);
const Finite = z.number();
/** What could not be drawn at all is 100 nats off. */
const isMargin = (value: unknown): boolean => Number(value) >= 0 && Number(value) <= 100;
const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes');
const bytesUpTo = (max: number) => Bytes.refine(({ byteLength }) => byteLength <= max, 'too long');
const bytesOf = (length: number) => Bytes.refine((bytes) => bytes.byteLength === length, `must be ${length} bytes`);
/** SHA-256 as lower-case hex; 32 bytes on the wire. */
const Digest = z.string().regex(/^[0-9a-f]{64}$/);
const Nonce = bytesOf(16);
const Signature = bytesOf(64);
const Text = (max: number) => z.string().max(max);
const utf8 = new TextEncoder();
const Grammar = z.string().refine(
  // A UTF-16 unit is at most three bytes.
  (text) => text.length * 3 <= MAX_GRAMMAR_BYTES || utf8.encode(text).byteLength <= MAX_GRAMMAR_BYTES,
  'too long',
);

const SamplingFrame = z.object({
  temperature: z.number().min(0).max(100),
  topP: z.number().min(0).max(1),
  topK: Whole,
  minP: z.number().min(0).max(1),
  presencePenalty: z.number().min(-100).max(100),
  frequencyPenalty: z.number().min(-100).max(100),
  logitBias: z
    .array(z.object({ token: TokenId, bias: z.number().min(-1e6).max(1e6) }))
    .max(10_000)
    .readonly(),
  seed: Whole,
});

const Choice = z.object({ token: TokenId, text: bytesUpTo(MAX_TEXT_BYTES), logprob: Finite });

/** Gateway to worker, or worker to gateway, first of all: who speaks, and which version. */
const Hello = z.object({
  kind: z.literal('hello'),
  version: Whole,
  software: Text(100),
  role: z.enum(['gateway', 'worker']),
});

/** Gateway: make an answer, or go on with one. `id` is new on this channel; `nonce` is new in the world. */
const Request = z.object({
  kind: z.literal('request'),
  id: Id,
  nonce: Nonce,
  modelSha256: Digest,
  prompt: Tokens,
  /** Tokens of the answer that there are already; with the prompt, no more than MAX_TOKENS. */
  given: Tokens,
  replay: z.enum(['exact', 'fast']),
  /** Of the answer in all, given ones included. */
  maxTokens: z.number().int().min(1).max(MAX_TOKENS),
  sampling: SamplingFrame,
  grammar: Grammar.optional(),
  cacheKey: Text(500).optional(),
  topLogprobs: z.number().int().min(0).max(100).optional(),
  /** Tokens that the worker may send before it is given more. */
  credit: Whole,
  /** W3C Trace Context: the span of the gateway that it is part of. */
  traceparent: Text(100).optional(),
});

/** Gateway: no more of this. The worker still says `done`, with its receipt. */
const Cancel = z.object({ kind: z.literal('cancel'), id: Id });

/** Gateway: so many more tokens may be sent. */
const Credit = z.object({ kind: z.literal('credit'), id: Id, tokens: Whole });

/** Worker: the prompt is being read; `cachedTokens` of it were read before. */
const Begin = z.object({ kind: z.literal('begin'), id: Id, cachedTokens: Whole });

/** Worker: tokens that follow each other; `position` is that of the first in the answer, given ones counted. */
const TokensFrame = z.object({
  kind: z.literal('tokens'),
  id: Id,
  position: Whole,
  tokens: z
    .array(Choice.extend({ top: z.array(Choice).max(100).readonly() }))
    .min(1)
    .max(4_096)
    .readonly(),
});

/** Worker: the answer is over; `receipt` is a SegmentReceipt, signed by the worker's key. */
const Done = z.object({
  kind: z.literal('done'),
  id: Id,
  reason: z.enum(['stop', 'length', 'cancelled']),
  receipt: bytesUpTo(4_096),
  signature: Signature,
});

export const FAILURE_CODES = [
  /** No such model here. */
  'unknown-model',
  /** No place, and the line is full. */
  'busy',
  /** The grammar cannot be read; another worker will not read it either. */
  'grammar-unusable',
  /** The request cannot be served as it is: too long, no prompt. */
  'unusable',
  /** The engine died or failed. */
  'engine-failed',
  /** The worker is leaving. */
  'leaving',
  /** What was said is not the protocol. */
  'protocol',
] as const;

/** Worker: it will not come, or no more of it. */
const Failed = z.object({ kind: z.literal('failed'), id: Whole, code: z.enum(FAILURE_CODES), message: Text(1_000) });

/** Worker, every quarter of a second while it works for this gateway, else every second: it lives, and how busy it is. */
const Pulse = z.object({
  kind: z.literal('pulse'),
  /** Jobs of all gateways. */
  running: Whole,
  waiting: Whole,
  /** Of this channel. `waiting` for a slot, `reading` the prompt, `writing`. */
  jobs: z
    .array(z.object({ id: Id, phase: z.enum(['waiting', 'reading', 'writing']) }))
    .max(10_000)
    .readonly(),
});

/** Gateway: how likely is it that the model drew these tokens? */
const Score = z.object({
  kind: z.literal('score'),
  id: Id,
  modelSha256: Digest,
  prompt: Tokens,
  answer: Tokens,
  /** Whether the answer is said to end after its last token: then the end is scored too. */
  hasEnd: z.boolean(),
  sampling: SamplingFrame,
  grammar: Grammar.optional(),
  /** As the request had it: answers with a grammar are brought to a close before it. */
  maxTokens: z.number().int().min(1).max(MAX_TOKENS).optional(),
});

/** Worker: for each token (and the end), by how much another one would have been drawn before it; 0: it is the one. Nats, in 32 bits. */
const Scored = z.object({
  kind: z.literal('scored'),
  id: Id,
  margins: z.custom<readonly number[]>(
    (value) => Array.isArray(value) && value.length <= MAX_TOKENS + 1 && value.every(isMargin),
    'must be margins',
  ),
});

const Embed = z.object({ kind: z.literal('embed'), id: Id, modelSha256: Digest, tokens: Tokens });
const Embedded = z.object({ kind: z.literal('embedded'), id: Id, vector: z.array(Finite).max(65_536).readonly() });

/** Gateway: the vocabulary with this digest, from this byte on. */
const VocabularyAsk = z.object({ kind: z.literal('vocabularyAsk'), id: Id, vocabularySha256: Digest, from: Whole });
/** Worker: a part of it; `sizeBytes` is that of the whole. */
const VocabularyPart = z.object({
  kind: z.literal('vocabularyPart'),
  id: Id,
  from: Whole,
  sizeBytes: Whole,
  part: bytesUpTo(MAX_PART_BYTES),
});

/** Gateway: it agrees with the receipt of the request with this nonce; its signature of the same bytes. */
const Settle = z.object({ kind: z.literal('settle'), nonce: Nonce, signature: Signature });

/** Worker: what it has and how busy it is; an Offer, signed by its key. Also what goes by gossip. */
const SignedOfferFrame = z.object({
  kind: z.literal('offer'),
  offer: bytesUpTo(64 * 1024),
  signature: Signature,
});

export const Frame = z.discriminatedUnion('kind', [
  Hello,
  Request,
  Cancel,
  Credit,
  Begin,
  TokensFrame,
  Done,
  Failed,
  Pulse,
  Score,
  Scored,
  Embed,
  Embedded,
  VocabularyAsk,
  VocabularyPart,
  Settle,
  SignedOfferFrame,
]);
export type Frame = z.infer<typeof Frame>;
export type FrameOf<Kind extends Frame['kind']> = Extract<Frame, { readonly kind: Kind }>;
export type FailureCode = (typeof FAILURE_CODES)[number];

export const OfferedModel = z.object({
  name: z.string().min(1).max(200),
  sha256: Digest,
  /** Of the file without its tensors: a GGUF of vocabulary and template alone. */
  vocabularySha256: Digest,
  /** Of the chat template's text; of nothing where there is none. */
  templateSha256: Digest,
  architecture: Text(100),
  quantisation: Text(50),
  sizeBytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  parameters: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  contextLength: z.number().int().min(1).max(100_000_000),
  vocabularySize: z.number().int().min(1).max(MAX_VOCABULARY),
  longestToken: z.number().int().min(1).max(MAX_TEXT_BYTES),
  /** Answers side by side; a larger claim is not believed. */
  slots: z.number().int().min(1).max(10_000),
  prefillTokensPerSecond: z.number().min(0).max(1e9),
  decodeTokensPerSecond: z.number().min(0).max(1e9),
  engine: Text(100),
});
export type OfferedModel = z.infer<typeof OfferedModel>;

export const Offer = z.object({
  peer: z.string().min(1).max(128),
  /** Grows with each offer of this peer: an older one is a replay. */
  sequence: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  issuedAtMs: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  expiresAtMs: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  software: Text(100),
  models: z.array(OfferedModel).min(0).max(64).readonly(),
  running: Whole,
  waiting: Whole,
});
export type Offer = z.infer<typeof Offer>;

export const SegmentReceipt = z.object({
  version: z.literal(1),
  nonce: Nonce,
  /** Peer ids. */
  worker: z.string().min(1).max(128),
  gateway: z.string().min(1).max(128),
  modelSha256: Digest,
  /** Of the prompt's tokens, each 4 bytes, little-endian. */
  promptSha256: Digest,
  /** Of the request frame as it came over the wire, without the length before it. */
  requestSha256: Digest,
  /** Positions in the answer: tokens from `from` up to, not including, `to` are what this worker made. */
  from: Whole,
  to: Whole,
  chainHead: Digest,
  promptTokens: Whole,
  cachedTokens: Whole,
  reason: z.enum(['stop', 'length', 'cancelled']),
  engine: Text(100),
  startedAtMs: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  /** 0: there was none. */
  firstTokenAtMs: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  endedAtMs: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
});
export type SegmentReceipt = z.infer<typeof SegmentReceipt>;
