// The frames between gateway and worker, declared once: fields, bounds, and the encoding, which wire-types.ts derives.
// The position of a field is its number on the wire: a new field, or a new kind of frame, goes to the end.
// docs/network-protocol.proto declares the same messages for other implementations; a test compares them.
import { z } from 'zod';
import {
  bytesUpTo,
  Digest,
  Finite,
  Grammar,
  Id,
  isMargin,
  isTokenId,
  Nonce,
  numbersUpTo,
  Signature,
  Text,
  TokenId,
  Uint32,
  Uint64,
} from './fields.ts';
import { ENCODING } from './wire-types.ts';

/** Version of the protocol. A peer with another version is notified and disconnected. */
export const PROTOCOL_VERSION = 1;
export const PROTOCOL = '/strata/inference/1.0.0';

/**
 * Maximum number of tokens of a prompt and its answer. With three-byte ids they fit into one message, together with the
 * largest grammar.
 */
export const MAX_TOKENS = 1_000_000;
/** Maximum text length of one token. */
export const MAX_TEXT_BYTES = 16_384;
/** Maximum part of a vocabulary or model file in one frame, so that answers are not delayed behind it. */
export const MAX_PART_BYTES = 1024 * 1024;
const MAX_CHUNK_BYTES = 64 * 1024;

const Tokens = numbersUpTo(MAX_TOKENS, 'uint32', isTokenId);

const SamplingFrame = z.object({
  temperature: z.number().min(0).max(100),
  topP: z.number().min(0).max(1),
  topK: Uint32,
  minP: z.number().min(0).max(1),
  presencePenalty: z.number().min(-100).max(100),
  frequencyPenalty: z.number().min(-100).max(100),
  logitBias: z
    .array(z.object({ token: TokenId, bias: z.number().min(-1e6).max(1e6) }))
    .max(10_000)
    .readonly(),
  seed: Uint32,
});

const Choice = z.object({ token: TokenId, text: bytesUpTo(MAX_TEXT_BYTES), logprob: Finite });

/** Both directions, the first frame: the role and the protocol version of the sender. */
const Hello = z.object({
  kind: z.literal('hello'),
  version: Uint32,
  software: Text(100),
  role: z.enum(['gateway', 'worker']),
});

/** Gateway: start or continue an answer. `id` is unique in this channel; `nonce` is globally unique. */
const Request = z.object({
  kind: z.literal('request'),
  id: Id,
  nonce: Nonce,
  modelSha256: Digest,
  prompt: Tokens,
  /** Tokens of the answer that already exist; prompt and given tokens together are at most MAX_TOKENS. */
  given: Tokens,
  replay: z.enum(['exact', 'fast']),
  /** Maximum length of the complete answer, including the given tokens. */
  maxTokens: z.number().int().min(1).max(MAX_TOKENS),
  sampling: SamplingFrame,
  grammar: Grammar.optional(),
  cacheKey: Text(500).optional(),
  topLogprobs: z.number().int().min(0).max(100).optional(),
  /** The number of tokens that the worker may send before it receives more credit. */
  credit: Uint32,
  /** W3C Trace Context: the gateway span that this request belongs to. */
  traceparent: Text(100).optional(),
});

/** Gateway: stop generating. The worker still sends `done` with its receipt. */
const Cancel = z.object({ kind: z.literal('cancel'), id: Id });

/** Gateway: the worker may send this many more tokens. */
const Credit = z.object({ kind: z.literal('credit'), id: Id, tokens: Uint32 });

/** Worker: prompt processing starts; `cachedTokens` of the prompt were already in the cache. */
const Begin = z.object({ kind: z.literal('begin'), id: Id, cachedTokens: Uint32 });

/**
 * Worker: consecutive tokens; `position` is the position of the first one in the answer, including the given tokens.
 */
const TokensFrame = z.object({
  kind: z.literal('tokens'),
  id: Id,
  position: Uint32,
  tokens: z
    .array(Choice.extend({ top: z.array(Choice).max(100).readonly() }))
    .min(1)
    .max(4_096)
    .readonly(),
});

/** Worker: the answer is complete; `receipt` is a SegmentReceipt, signed with the worker's key. */
const Done = z.object({
  kind: z.literal('done'),
  id: Id,
  reason: z.enum(['stop', 'length', 'cancelled']),
  receipt: bytesUpTo(4_096),
  signature: Signature,
});

export const FAILURE_CODES = [
  /** The worker does not have this model. */
  'unknown-model',
  /** No slot is free, and the queue is full. */
  'busy',
  /** The grammar cannot be parsed; other workers cannot parse it either. */
  'grammar-unusable',
  /** The request cannot be served: too long, or without a prompt. */
  'unusable',
  /** The engine crashed or failed. */
  'engine-failed',
  /** The worker is shutting down. */
  'leaving',
  /** The gateway violated the protocol. */
  'protocol',
] as const;

/** Worker: the request failed; no more frames follow for it. */
const Failed = z.object({ kind: z.literal('failed'), id: Uint32, code: z.enum(FAILURE_CODES), message: Text(1_000) });

/** Worker heartbeat with its load: every 250 ms while it works for this gateway, otherwise every second. */
const Heartbeat = z.object({
  kind: z.literal('pulse'),
  /** Jobs of all gateways. */
  running: Uint32,
  waiting: Uint32,
  /** Jobs of this channel: `waiting` for a slot, `reading` the prompt, or `writing` the answer. */
  jobs: z
    .array(z.object({ id: Id, phase: z.enum(['waiting', 'reading', 'writing']) }))
    .max(10_000)
    .readonly(),
});

/** Gateway: how likely is it that the model sampled these tokens? */
const Score = z.object({
  kind: z.literal('score'),
  id: Id,
  modelSha256: Digest,
  prompt: Tokens,
  answer: Tokens,
  /** Whether the answer ended after its last token; if so, the end is scored too. */
  hasEnd: z.boolean(),
  sampling: SamplingFrame,
  grammar: Grammar.optional(),
  /** The `maxTokens` of the request: answers with a grammar are completed before this limit. */
  maxTokens: z.number().int().min(1).max(MAX_TOKENS).optional(),
});

/** Worker: the margin of each token (and the end) in nats, as 32-bit floats; 0: the token is the one that is sampled. */
const Scored = z.object({
  kind: z.literal('scored'),
  id: Id,
  margins: numbersUpTo(MAX_TOKENS + 1, 'float', isMargin),
});

const Embed = z.object({ kind: z.literal('embed'), id: Id, modelSha256: Digest, tokens: Tokens });
const Embedded = z.object({
  kind: z.literal('embedded'),
  id: Id,
  vector: z.array(Finite).max(65_536).readonly().register(ENCODING, { repeated: 'float' }),
});

/** Gateway: request the vocabulary with this digest, starting at this byte. */
const VocabularyAsk = z.object({ kind: z.literal('vocabularyAsk'), id: Id, vocabularySha256: Digest, from: Uint32 });
/** Worker: a part of the vocabulary; `sizeBytes` is the size of the complete file. */
const VocabularyPart = z.object({
  kind: z.literal('vocabularyPart'),
  id: Id,
  from: Uint32,
  sizeBytes: Uint32,
  part: bytesUpTo(MAX_PART_BYTES),
});

/** Gateway: accepts the receipt of the request with this nonce; contains the gateway's signature of the same bytes. */
const Settle = z.object({ kind: z.literal('settle'), nonce: Nonce, signature: Signature });

/** Worker: its models and its load, as an Offer signed with its key. Also the payload of gossip messages. */
const SignedOfferFrame = z.object({
  kind: z.literal('offer'),
  offer: bytesUpTo(64 * 1024),
  signature: Signature,
});

/** Gateway: a chunk of the model file. Only for a worker whose offer has a `fileTreeSha256`. */
const ChunkAsk = z.object({ kind: z.literal('chunkAsk'), id: Id, modelSha256: Digest, index: Uint32 });
/** Worker: the chunk, and its path in the tree, 32 bytes for each hash. */
const Chunk = z.object({
  kind: z.literal('chunk'),
  id: Id,
  sizeBytes: Uint64,
  rootSha256: Digest,
  part: bytesUpTo(MAX_CHUNK_BYTES),
  path: bytesUpTo(64 * 32),
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
  Heartbeat,
  Score,
  Scored,
  Embed,
  Embedded,
  VocabularyAsk,
  VocabularyPart,
  Settle,
  SignedOfferFrame,
  ChunkAsk,
  Chunk,
]);
export type Frame = z.infer<typeof Frame>;
export type FrameOf<Kind extends Frame['kind']> = Extract<Frame, { readonly kind: Kind }>;
export type FailureCode = (typeof FAILURE_CODES)[number];

export const SegmentReceipt = z.object({
  version: z.literal(1),
  nonce: Nonce,
  /** Peer ids. */
  worker: z.string().min(1).max(128),
  gateway: z.string().min(1).max(128),
  modelSha256: Digest,
  /** Digest of the prompt's token ids, each 4 bytes, little-endian. */
  promptSha256: Digest,
  /** Digest of the request frame as received, without its length prefix. */
  requestSha256: Digest,
  /** The range of answer positions that this worker generated: from `from` up to, not including, `to`. */
  from: Uint32,
  to: Uint32,
  chainHead: Digest,
  promptTokens: Uint32,
  cachedTokens: Uint32,
  reason: z.enum(['stop', 'length', 'cancelled']),
  engine: Text(100),
  startedAtMs: Uint64,
  /** 0: no token was generated. */
  firstTokenAtMs: Uint64,
  endedAtMs: Uint64,
});
export type SegmentReceipt = z.infer<typeof SegmentReceipt>;
