// Calls Strata services, follows their events and verifies their answers, in Node and in browsers.

export type { RememberedLedger } from '@strata/receipts';
export { type Fetched, fetchBounded } from './http/fetch-bounded.ts';
export * from './inference/answer-speed.ts';
export { answerDigest, type ChatRecord, digestsIn } from './inference/chat-record.ts';
export type {
  AdminKey,
  AdminKeyPage,
  AuditPage,
  ChatCompletionChunk,
  ChatCompletionRequest,
  CreatedAdminKey,
  GatewayPaths,
  GatewayPosts,
  Model,
  ModelPrice,
  Network,
  NewAdminKey,
  NewKey as NewInferenceKey,
  Price,
  Receipt,
  Team,
  TeamLimits,
  UsageReport,
} from './inference/gateway-types.ts';
export * from './inference/inference-client.ts';
export type { AnswerEvent, AnswerStarted, AnswerUsage } from './inference/inference-events.ts';
export { InferenceProblem } from './inference/inference-problem.ts';
export { SECTOR_NAMES } from './stack/sector-names.ts';
export type { StackAnswer } from './stack/stack-answer.ts';
export * from './stack/stack-client.ts';
export type { CheckLedgerOptions, EventFilter, StackEvent, StreamState } from './stack/stack-events.ts';
export type { PagedItems, PagedPath } from './stack/stack-pages.ts';
export { type FieldProblem, type Quota, StackProblem } from './stack/stack-problem.ts';
export { type AnyStackPath, curlOf, type StackInput, type StackPath } from './stack/stack-request.ts';
export * from './stack/stack-tables.ts';
export type * from './stack/stack-types.ts';
export type { AnswerProblem } from './verify/answer-problem.ts';
export type { LedgerOptions } from './verify/check-ledger.ts';
export * from './verify/ledger-memory.ts';
export * from './verify/verify-answer.ts';
