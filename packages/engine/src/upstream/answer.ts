// Converts an upstream's events into the deltas of one choice, from `begin` to `end`.
import { type ChatDelta, type ChosenLogprob, CompletionError, type FinishReason, StopScanner } from '@strata/inference';
import { type Chunk, readChunk, type UpstreamUsage } from './chunks.ts';
import { failed } from './errors.ts';
import type { StreamEvent } from './response.ts';
import { CallReader } from './tool-calls.ts';

export interface AnswerOptions {
  readonly stops: readonly string[];
  readonly topLogprobs: number | undefined;
  /** Text is not an answer then: it is not emitted, and an answer without a call is an error. */
  readonly isCallForced: boolean;
  readonly usage: UpstreamUsage;
  /** For calls that come without an id. */
  readonly newCallId: () => string;
  readonly secret: string | undefined;
}

const MAX_TEXT = 16 * 1024 * 1024;
/** Log-probabilities of tokens whose text is held back: a stop string may be this long. */
const MAX_HELD_LOGPROBS = 4_096;

/** Throws EngineError `upstream-failed` for an answer that ends without a finish reason, or cannot be read. */
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
      // After the finish reason the answer is complete; only the usage is missing.
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
    if (length > MAX_TEXT) throw failed(`sent more than ${MAX_TEXT} characters`);
    // Tokens of calls are not emitted.
    if (topLogprobs !== undefined && !isCallForced && chunk.calls.length === 0) logprobs.push(...chunk.logprobs);
    if (logprobs.length > MAX_HELD_LOGPROBS) throw failed('sent log-probabilities without text');
    const { text, stop } = scanner.push(isCallForced ? '' : chunk.text);
    if (text !== '') yield textDelta(text);
    if (stop !== undefined) {
      yield { kind: 'end', reason: 'stop' };
      return;
    }
    for (const piece of chunk.calls) yield* calls.take(piece);
    reason = chunk.reason ?? reason;
    if (reason === 'abort' || reason === 'error') throw failed('aborted the answer');
  }
  if (!isDone && reason === undefined) throw failed('ended the answer prematurely');
  if (isCallForced && calls.count === 0 && finishReason(reason, false) === 'stop') throw textInsteadOfCall();
  if (!hasBegun) yield { kind: 'begin' };
  const rest = scanner.end();
  if (rest !== '') yield textDelta(rest);
  yield* calls.end();
  yield { kind: 'end', reason: finishReason(reason, calls.count > 0) };

  function textDelta(text: string): ChatDelta {
    if (topLogprobs === undefined) return { kind: 'text', text };
    const shown = logprobs.map((each) => ({ ...each, top_logprobs: each.top_logprobs.slice(0, topLogprobs) }));
    logprobs = [];
    return { kind: 'text', text, logprobs: shown };
  }
}

function count(usage: UpstreamUsage, { usage: reported, hasTokens }: Chunk): void {
  if (reported) Object.assign(usage, reported);
  else if (hasTokens) usage.completionTokens += 1;
}

/** Servers report `stop` after forced calls, and values of their own. */
function finishReason(reason: string | undefined, hasCalls: boolean): FinishReason {
  if (reason === 'length' || reason === 'content_filter') return reason;
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Some servers accept `required` but do not enforce it, for models whose template has no tools. */
function textInsteadOfCall(): CompletionError {
  return new CompletionError('unsupported_value', 'This model did not call a tool, although a call was required.', {
    param: 'tool_choice',
  });
}
