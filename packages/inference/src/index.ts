// What @strata/inference offers: requests read, answers shaped, tokens chosen, stop strings found.
export * from './answer/answer.ts';
export * from './answer/answer-content.ts';
export type { OutputDelta } from './answer/format/calls/call-writer.ts';
export { openedBy, outputFormat } from './answer/format/output-format.ts';
export { OutputReader } from './answer/format/output-reader.ts';
export type { OutputFormat } from './answer/format/syntax.ts';
export {
  type OutputItem,
  outputCall,
  outputItems,
  outputReasoning,
  outputText,
  type ResponseFacts,
  responseObject,
} from './answer/responses-answer.ts';
export { StopScanner } from './answer/stop-scanner.ts';
export { CompletionError, type ErrorName, errorBody } from './errors.ts';
export { type HeldAnswer, heldAnswer } from './grammar/answer-grammar.ts';
export { grammarProblem } from './grammar/grammar-bounds.ts';
export { schemaGrammar } from './grammar/schema-grammar.ts';
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
export { Verified, weakest } from './network/audit/verified.ts';
export { type WeightedDraw, weightedDraw } from './network/audit/weighted-draw.ts';
export * from './network/directory/directory.ts';
export { type ModelGroupsOptions, modelGroups } from './network/directory/model-groups.ts';
export * from './network/directory/model-name.ts';
export * from './network/placement/breaker.ts';
export { evictionMs, type LoadedModel } from './network/placement/eviction.ts';
export { type Candidate as PlacementCandidate, choosePlacement } from './network/placement/placement.ts';
export { PrefixMap } from './network/placement/prefix-map.ts';
export { replayOf } from './network/placement/replay.ts';
export { StallWatch } from './network/placement/stall-watch.ts';
export { type Ability, abilitiesIn, lackingOf, lacksOf, needsOf } from './network/protocol/abilities.ts';
export * from './network/protocol/frame.ts';
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
export type { Offer, OfferedModel } from './network/protocol/offer.ts';
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
export type { ChatMessage, ToolCall } from './request/chat-message.ts';
export * from './request/request.ts';
export { type ResponsesRequest, readResponsesRequest, requestSchemas } from './request/responses-request.ts';
export { type Candidate, chooseToken, GREEDY, logProbability, type Sampling, type Step } from './sampling.ts';
