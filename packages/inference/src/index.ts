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
} from './answer.ts';
export {
  type AnswerContent,
  type ChoiceContent,
  contentOfChoice,
  contentOfVector,
  readAnswerContent,
} from './answer-content.ts';
export { CompletionError, ERROR_KINDS, type ErrorName, errorBody } from './errors.ts';
export { grammarProblem } from './grammar-bounds.ts';
export { endMarginOf, MAX_MARGIN_NATS, marginOf } from './margin.ts';
export { AuditRun } from './network/audit-run.ts';
export {
  afterAsked,
  afterFailure,
  afterRefusal,
  afterSuccess,
  type Breaker,
  type BreakerState,
  breakerState,
  CLOSED,
} from './network/breaker.ts';
export { Directory, type DirectoryOptions, type KnownWorker, type OfferOutcome } from './network/directory.ts';
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
} from './network/frame.ts';
export {
  decodeFrame,
  decodeOffer,
  decodeSegmentReceipt,
  encodeFrame,
  encodeOffer,
  encodeSegmentReceipt,
  FrameError,
  type FrameErrorCode,
} from './network/frame-codec.ts';
export { type ModelGroupsOptions, modelGroups } from './network/model-groups.ts';
export {
  type Binding,
  type BindingOptions,
  type Bindings,
  bindNames,
  isModelName,
  type ModelGroup,
} from './network/model-name.ts';
export {
  type Candidate as PlacementCandidate,
  type CandidateField,
  choosePlacement,
  expectedFirstTokenMs,
  type Placement,
  type PlacementRequest,
} from './network/placement.ts';
export { PrefixMap } from './network/prefix-map.ts';
export { replayOf } from './network/replay.ts';
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
} from './network/reputation.ts';
export {
  bytesSha256,
  offerSignedBytes,
  type SeenSegment,
  segmentProblems,
  segmentSignedBytes,
  settleSignedBytes,
  TokenChain,
  tokensSha256,
} from './network/segment.ts';
export { type JobPhase, type StallReport, StallWatch } from './network/stall-watch.ts';
export { GATEWAY_KEY, OFFERS_TOPIC } from './network/topics.ts';
export { type WeightedDraw, weightedDraw } from './network/weighted-draw.ts';
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
} from './request.ts';
export { requestSchemas } from './request-schemas.ts';
export { type OutputItem, outputCall, outputItems, outputText, responseObject } from './responses-answer.ts';
export { type ResponsesRequest, readResponsesRequest } from './responses-request.ts';
export { type Candidate, chooseToken, GREEDY, logProbability, type Sampling, type Step } from './sampling.ts';
export { callGrammar, schemaGrammar, schemaOrCallGrammar } from './schema-grammar.ts';
export { type Scanned, StopScanner } from './stop-scanner.ts';
export { ToolCallReader, type ToolDelta } from './tool-calls.ts';
