// What @strata/inference offers: requests read, answers shaped, tokens chosen, stop strings found.
export {
  type AnswerHead,
  type ChatChoice,
  type ChatDelta,
  type ChosenLogprob,
  chatChunk,
  chatCompletion,
  type FinishReason,
  type TextChoice,
  type TokenLogprob,
  textChunk,
  textCompletion,
  type Usage,
  usageChunk,
} from './answer/answer.ts';
export {
  type AnswerContent,
  type ChoiceContent,
  contentOfChoice,
  contentOfVector,
  readAnswerContent,
} from './answer/answer-content.ts';
export { type OutputItem, outputCall, outputItems, outputText, responseObject } from './answer/responses-answer.ts';
export { type Scanned, StopScanner } from './answer/stop-scanner.ts';
export { ToolCallReader, type ToolDelta } from './answer/tool-calls.ts';
export { CompletionError, ERROR_KINDS, type ErrorName, errorBody } from './errors.ts';
export { grammarProblem } from './grammar/grammar-bounds.ts';
export { callGrammar, schemaGrammar, schemaOrCallGrammar } from './grammar/schema-grammar.ts';
export { endMarginOf, MAX_MARGIN_NATS, marginOf } from './margin.ts';
export { AuditRun } from './network/audit/audit-run.ts';
export {
  afterFinding,
  atTime,
  auditShare,
  deviation,
  type Finding,
  type Margins,
  NEW_WORKER,
  Reputation,
  TOLERATED_DEVIATION,
  trust,
} from './network/audit/reputation.ts';
export { type WeightedDraw, weightedDraw } from './network/audit/weighted-draw.ts';
export {
  Directory,
  type DirectoryOptions,
  type KnownWorker,
  type OfferOutcome,
} from './network/directory/directory.ts';
export { type ModelGroupsOptions, modelGroups } from './network/directory/model-groups.ts';
export {
  type Binding,
  type BindingOptions,
  type Bindings,
  bindNames,
  isModelName,
  type ModelGroup,
} from './network/directory/model-name.ts';
export {
  afterAsked,
  afterFailure,
  afterRefusal,
  afterSuccess,
  type Breaker,
  type BreakerState,
  breakerState,
  CLOSED,
} from './network/placement/breaker.ts';
export {
  type Candidate as PlacementCandidate,
  type CandidateField,
  choosePlacement,
  expectedFirstTokenMs,
  type Placement,
  type PlacementRequest,
} from './network/placement/placement.ts';
export { PrefixMap } from './network/placement/prefix-map.ts';
export { replayOf } from './network/placement/replay.ts';
export { type JobPhase, type StallReport, StallWatch } from './network/placement/stall-watch.ts';
export {
  FAILURE_CODES,
  type FailureCode,
  type Frame,
  type FrameOf,
  MAX_PART_BYTES,
  MAX_TOKENS,
  type Offer,
  type OfferedModel,
  PROTOCOL,
  PROTOCOL_VERSION,
  type SegmentReceipt,
} from './network/protocol/frame.ts';
export {
  decodeFrame,
  decodeOffer,
  decodeSegmentReceipt,
  encodeFrame,
  encodeOffer,
  encodeSegmentReceipt,
  FrameError,
  type FrameErrorCode,
} from './network/protocol/frame-codec.ts';
export {
  bytesSha256,
  type ObservedSegment,
  offerSignedBytes,
  segmentProblems,
  segmentSignedBytes,
  settleSignedBytes,
  TokenChain,
  tokensSha256,
} from './network/protocol/segment.ts';
export { GATEWAY_KEY, OFFERS_TOPIC } from './network/protocol/topics.ts';
export {
  type ChatMessage,
  type ChatRequest,
  type CompletionRequest,
  type EmbeddingRequest,
  type Format,
  type Generation,
  readChatRequest,
  readCompletionRequest,
  readEmbeddingRequest,
  type Tool,
  type ToolCall,
  type ToolChoice,
} from './request/request.ts';
export { type ResponsesRequest, readResponsesRequest, requestSchemas } from './request/responses-request.ts';
export { type Candidate, chooseToken, GREEDY, logProbability, type Sampling, type Step } from './sampling.ts';
