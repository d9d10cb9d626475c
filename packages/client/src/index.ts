// Ask a Strata service, follow its events and verify what it answered, in Node or in a browser.

export type { RememberedLedger } from '@strata/receipts';
export type { AnswerProblem } from './answer-problem.ts';
export { answerDigest, type ChatRecord, digestsIn } from './chat-record.ts';
export { type Fetched, fetchBounded } from './fetch-bounded.ts';
export type { LedgerOptions } from './follow-shown.ts';
export type {
  ChatCompletionChunk,
  ChatCompletionRequest,
  GatewayPaths,
  GatewayPosts,
  Model,
  Network,
  NewKey as NewInferenceKey,
  Receipt,
} from './gateway-types.ts';
export {
  type AnswerBounds,
  type AnswerOptions,
  type ChatOptions,
  type ChatRequest,
  type InferenceCallOptions,
  InferenceClient,
  type InferenceClientOptions,
  type VerifiedReceipt,
} from './inference-client.ts';
export type { AnswerBegun, AnswerEvent, AnswerUsage } from './inference-events.ts';
export { AnswerPace, type PaceFigures, tokensPerSecond } from './inference-pace.ts';
export { InferenceProblem } from './inference-problem.ts';
export { type LedgerMemory, ledgerMemory, storedLedgerMemory, type TextStorage, textMemory } from './ledger-memory.ts';
export {
  type CallOptions,
  type NewKey,
  type StackAnswer,
  StackClient,
  type StackClientOptions,
  type VerifyOptions,
} from './stack-client.ts';
export type { EventFilter, FollowOptions, StackEvent, StreamState } from './stack-events.ts';
export type { PagedItems, PagedPath } from './stack-pages.ts';
export { type FieldProblem, type Quota, StackProblem } from './stack-problem.ts';
export type { AnyStackPath, StackInput, StackPath } from './stack-request.ts';
export type * from './stack-types.ts';
export {
  type ClientOptions,
  type Conflict,
  type DetachedInput,
  type Unchecked,
  type VerifiedAnswer,
  type VerifyBodyOptions,
  type VerifyUrlOptions,
  verifyBody,
  verifyDetached,
  verifyUrl,
} from './verify-answer.ts';
