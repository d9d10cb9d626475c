// Calls Strata services, follows their events and verifies their answers, in Node and in browsers.

export type { RememberedLedger } from '@strata/receipts';
export { type Fetched, fetchBounded } from './http/fetch-bounded.ts';
export {
  AnswerSpeed,
  type SpeedFigures,
  tokensPerSecond,
} from './inference/answer-speed.ts';
export { answerDigest, type ChatRecord, digestsIn } from './inference/chat-record.ts';
export type {
  ChatCompletionChunk,
  ChatCompletionRequest,
  GatewayPaths,
  GatewayPosts,
  Model,
  Network,
  NewKey as NewInferenceKey,
  Receipt,
} from './inference/gateway-types.ts';
export {
  type AnswerLimits,
  type AnswerOptions,
  type ChatOptions,
  type ChatRequest,
  type InferenceCallOptions,
  InferenceClient,
  type InferenceClientOptions,
  type VerifiedReceipt,
} from './inference/inference-client.ts';
export type { AnswerEvent, AnswerStarted, AnswerUsage } from './inference/inference-events.ts';
export { InferenceProblem } from './inference/inference-problem.ts';
export type { StackAnswer } from './stack/stack-answer.ts';
export {
  type CallOptions,
  type LookupOptions,
  type NewKey,
  StackClient,
  type StackClientOptions,
  type StackWrites,
  type VerifyOptions,
} from './stack/stack-client.ts';
export type { CheckLedgerOptions, EventFilter, StackEvent, StreamState } from './stack/stack-events.ts';
export type { PagedItems, PagedPath } from './stack/stack-pages.ts';
export { type FieldProblem, type Quota, StackProblem } from './stack/stack-problem.ts';
export { type AnyStackPath, curlOf, type StackInput, type StackPath } from './stack/stack-request.ts';
export {
  type FileOptions,
  type NameList,
  type StackFile,
  StackTables,
  type TableFormat,
} from './stack/stack-tables.ts';
export type * from './stack/stack-types.ts';
export type { AnswerProblem } from './verify/answer-problem.ts';
export type { LedgerOptions } from './verify/check-ledger.ts';
export {
  type LedgerMemory,
  ledgerMemory,
  storedLedgerMemory,
  type TextStorage,
  textMemory,
} from './verify/ledger-memory.ts';
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
} from './verify/verify-answer.ts';
