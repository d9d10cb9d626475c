// From an upstream's events to the deltas of one choice, from `begin` to `end`.
import { type ChatDelta, type ChosenLogprob, CompletionError, type FinishReason, StopScanner } from '@strata/inference';
import { EngineError } from '../engine.ts';
import { type Chunk, readChunk } from './chunks.ts';
import type { StreamEvent } from './events.ts';
import { CallReader } from './tool-calls.ts';

/**
 * Filled while deltas are read. Where the server tells no usage, `completionTokens` is an estimate, one for each chunk that
 * says something (servers send a token a chunk, most of the time), and `promptTokens` stays 0.
 */
export interface UpstreamUsage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
}

export interface AnswerOptions {
  readonly stops: readonly string[];
  readonly topLogprobs: number | undefined;
  /** Words are no answer then: they are not told, and without a call after them they are an error. */
  readonly isCallForced: boolean;
  readonly usage: UpstreamUsage;
  /** For calls that come without an id. */
  readonly newCallId: () => string;
  readonly secret: string | undefined;
}

const MAX_TEXT = 16 * 1024 * 1024;
/** Of tokens whose text has not come yet: a stop string may be as long. */
const MAX_HELD_LOGPROBS = 4_096;

/** Throws EngineError `upstream-failed` for an answer that ends without saying so, or says what cannot be read. */
export async function* answerDeltas(
  events: AsyncIterator<StreamEvent>,
  options: AnswerOptions,
): AsyncGenerator<ChatDelta> {
  const { stops, topLogprobs, isCallForced, usage, secret } = options;
  const scanner = new StopScanner(stops);
  const calls = new CallReader(options.newCallId);
  let logprobs: ChosenLogprob[] = [];
  let reason: string | undefined;
  let isDone = false;
  let hasBegun = false;
  let length = 0;

  for (;;) {
    const { value: event, done } = await events.next().catch((error: unknown) => {
      // Whoever said why it ended has said everything; only the usage is missing.
      if (reason === undefined) throw error;
      return { value: undefined, done: true as const };
    });
    if (done || !event) break;
    if (event.data.startsWith('[DONE]')) {
      isDone = true;
      break;
    }
    const chunk = readChunk(event, secret);
    if (!hasBegun && (!isCallForced || chunk.calls.length > 0)) {
      hasBegun = true;
      yield { kind: 'begin' };
    }
    count(usage, chunk);
    length += chunk.text.length + chunk.calls.reduce((sum, call) => sum + call.arguments.length, 0);
    if (length > MAX_TEXT) throw broken(`gave more than ${MAX_TEXT} characters`);
    // Tokens of calls are not told.
    if (topLogprobs !== undefined && !isCallForced && chunk.calls.length === 0) logprobs.push(...chunk.logprobs);
    if (logprobs.length > MAX_HELD_LOGPROBS) throw broken('gave log-probabilities without text');
    const { text, stop } = scanner.push(isCallForced ? '' : chunk.text);
    if (text !== '') yield textDelta(text);
    if (stop !== undefined) {
      yield { kind: 'end', reason: 'stop' };
      return;
    }
    for (const piece of chunk.calls) yield* calls.take(piece);
    reason = chunk.reason ?? reason;
    if (reason === 'abort' || reason === 'error') throw broken('gave the answer up');
  }
  if (!isDone && reason === undefined) throw broken('ended the answer in the middle');
  if (isCallForced && calls.count === 0 && finishReason(reason, false) === 'stop') throw wordsInstead();
  if (!hasBegun) yield { kind: 'begin' };
  const rest = scanner.end();
  if (rest !== '') yield textDelta(rest);
  yield* calls.end();
  yield { kind: 'end', reason: finishReason(reason, calls.count > 0) };

  function textDelta(text: string): ChatDelta {
    if (topLogprobs === undefined) return { kind: 'text', text };
    const told = logprobs.map((each) => ({ ...each, top_logprobs: each.top_logprobs.slice(0, topLogprobs) }));
    logprobs = [];
    return { kind: 'text', text, logprobs: told };
  }
}

function count(usage: UpstreamUsage, { usage: told, hasTokens }: Chunk): void {
  if (told) Object.assign(usage, told);
  else if (hasTokens) usage.completionTokens += 1;
}

/** Servers say `stop` after calls that were forced, and things of their own. */
function finishReason(reason: string | undefined, hasCalls: boolean): FinishReason {
  if (reason === 'length' || reason === 'content_filter') return reason;
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Some servers take `required` and do not hold to it, for models whose template knows no tools. */
function wordsInstead(): CompletionError {
  return new CompletionError('unsupported_value', 'This model did not call a tool, though it was told to.', {
    param: 'tool_choice',
  });
}

function broken(what: string): EngineError {
  return new EngineError('upstream-failed', `the upstream ${what}`);
}
