// Converts an upstream's events into the deltas of one choice, from `begin` to `end`.
import { type ChatDelta, type ChosenLogprob, CompletionError, type FinishReason, StopScanner } from '@strata/inference';
import { type CallPiece, type Chunk, readChunk, type UpstreamUsage } from './chunks.ts';
import { failed } from './errors.ts';
import type { StreamEvent } from './response.ts';

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
  /** What was thought before the beginning. */
  let thought = '';
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
    if (!hasBegun && (!isCallForced || chunk.calls.length > 0)) yield* beginning();
    count(usage, chunk);
    length +=
      chunk.text.length + chunk.reasoning.length + chunk.calls.reduce((sum, call) => sum + call.arguments.length, 0);
    if (length > MAX_TEXT) throw failed(`sent more than ${MAX_TEXT} characters`);
    // Tokens of calls are not emitted.
    if (topLogprobs !== undefined && !isCallForced && chunk.calls.length === 0) logprobs.push(...chunk.logprobs);
    if (logprobs.length > MAX_HELD_LOGPROBS) throw failed('sent log-probabilities without text');
    if (chunk.reasoning !== '') {
      // The log-probabilities are those of the content.
      logprobs = [];
      if (hasBegun) yield { kind: 'reasoning', text: chunk.reasoning };
      else thought += chunk.reasoning;
    }
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
  if (!hasBegun) yield* beginning();
  const rest = scanner.end();
  if (rest !== '') yield textDelta(rest);
  yield* calls.end();
  yield { kind: 'end', reason: finishReason(reason, calls.count > 0) };

  function* beginning(): Generator<ChatDelta> {
    hasBegun = true;
    yield { kind: 'begin' };
    if (thought !== '') yield { kind: 'reasoning', text: thought };
  }

  function textDelta(text: string): ChatDelta {
    if (topLogprobs === undefined) return { kind: 'text', text };
    const shown = logprobs.map((each) => ({ ...each, top_logprobs: each.top_logprobs.slice(0, topLogprobs) }));
    logprobs = [];
    return { kind: 'text', text, logprobs: shown };
  }
}

function count(usage: UpstreamUsage, { usage: reported, reasoning, hasTokens }: Chunk): void {
  if (reported) Object.assign(usage, reported);
  else if (hasTokens) usage.completionTokens += 1;
  if (reasoning !== '' && !reported) usage.reasoningTokens = (usage.reasoningTokens ?? 0) + 1;
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

interface Call {
  readonly at: number;
  id: string;
  name: string;
  /** Its name and id are final. */
  isEmitted: boolean;
  /** Of its arguments. */
  length: number;
}

const MAX_CALLS = 128;
const MAX_ARGUMENTS = 1024 * 1024;

/**
 * Calls in the order in which they began. Each is emitted when its arguments begin, or when it ends: until then
 * llama-server may extend its name and id. Throws EngineError `upstream-failed` above the limits, and for a call
 * without a name.
 */
class CallReader {
  /** For calls without an id. */
  readonly #newId: () => string;
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;
  count = 0;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  *take(piece: CallPiece): Generator<ChatDelta> {
    let call = this.#known(piece);
    if (!call) {
      yield* this.end();
      call = this.#begin(piece);
    }
    if (!call.isEmitted) {
      call.id = piece.id || call.id;
      call.name = piece.name || call.name;
    }
    if (piece.arguments === '') return;
    yield* this.#emit(call);
    call.length += piece.arguments.length;
    if (call.length > MAX_ARGUMENTS) throw failed(`sent more than ${MAX_ARGUMENTS} characters of arguments`);
    yield { kind: 'arguments', at: call.at, text: piece.arguments };
  }

  /** Ends the last call. */
  *end(): Generator<ChatDelta> {
    if (this.#last) yield* this.#emit(this.#last);
  }

  *#emit(call: Call): Generator<ChatDelta> {
    if (call.isEmitted) return;
    if (call.name === '') throw failed('sent a call without a name');
    call.isEmitted = true;
    yield { kind: 'call', at: call.at, id: call.id || this.#newId(), name: call.name };
  }

  /**
   * The call that a piece belongs to. Some servers give every call the index 0, some give none: a new id distinguishes
   * them.
   */
  #known({ index, id, name }: CallPiece): Call | undefined {
    const call = index === undefined ? this.#last : this.#byIndex.get(index);
    if (!call || name === '') return call;
    const hasOtherId = id !== '' && call.id !== '' && id !== call.id;
    const isOther = hasOtherId ? call.isEmitted || index === undefined : index === undefined && call.name !== '';
    return isOther ? undefined : call;
  }

  #begin({ index }: CallPiece): Call {
    if (this.count >= MAX_CALLS) throw failed(`sent more than ${MAX_CALLS} calls`);
    const call = { at: this.count, id: '', name: '', isEmitted: false, length: 0 };
    this.count += 1;
    this.#last = call;
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}
