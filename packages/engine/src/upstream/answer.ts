// Converts an upstream's events into the deltas of one choice, from `begin` to `end`.
import { type ChatDelta, type ChosenLogprob, CompletionError, type FinishReason, StopScanner } from '@strata/inference';
import { type CallPiece, type Chunk, ChunkReader, ONLY_TEXT, type UpstreamUsage } from './chunks.ts';
import { failed } from './errors.ts';
import { isDone, type StreamEvent } from './response.ts';

export interface AnswerOptions {
  readonly stops: readonly string[];
  readonly topLogprobs: number | undefined;
  /** Text is not an answer then: it is not emitted, and an answer without a call is an error. */
  readonly isCallForced: boolean;
  /** Reasoning is text, in the marks that most models write: the server has taken off those of its model. */
  readonly keepsReasoning?: boolean;
  readonly usage: UpstreamUsage;
  /** For calls that come without an id. */
  readonly newCallId: () => string;
  readonly secret: string | undefined;
}

const MAX_TEXT = 16 * 1024 * 1024;
/** Log-probabilities of tokens whose text is held back: a stop string may be this long. */
const MAX_HELD_LOGPROBS = 4_096;

/** The deltas of an answer, as many at a time as events arrive together. */
export class AnswerDeltas {
  readonly #events: AsyncIterator<readonly StreamEvent[]>;
  readonly #reader: AnswerReader;
  #failure: { readonly error: unknown } | undefined;

  constructor(events: AsyncIterator<readonly StreamEvent[]>, options: AnswerOptions) {
    this.#events = events;
    this.#reader = new AnswerReader(options);
  }

  /** All deltas were returned. */
  get isEnded(): boolean {
    return this.#reader.isEnded && !this.#failure;
  }

  /**
   * The next ones, none for events without any. Rejects with EngineError `upstream-failed` for an answer that ends without a
   * finish reason, or cannot be read.
   */
  async next(): Promise<readonly ChatDelta[]> {
    if (this.#failure) throw this.#failure.error;
    const reader = this.#reader;
    let batch: readonly StreamEvent[] | undefined;
    try {
      batch = (await this.#events.next()).value;
    } catch (error) {
      // After the finish reason the answer is complete; only the usage is missing.
      if (!reader.hasReason) throw error;
    }
    try {
      if (batch) reader.read(batch);
      else reader.end();
    } catch (error) {
      // What came before it is part of the answer.
      this.#failure = { error };
    }
    return reader.take();
  }
}

class AnswerReader {
  readonly #options: AnswerOptions;
  readonly #scanner: StopScanner;
  readonly #calls: CallReader;
  readonly #chunks: ChunkReader;
  #logprobs: ChosenLogprob[] = [];
  #reason: string | undefined;
  #hasBegun = false;
  /** What was thought before the beginning. */
  #thought = '';
  /** Whether the text is within kept reasoning. */
  #isThinking = false;
  #length = 0;
  #deltas: ChatDelta[] = [];
  /** The last delta was read. */
  isEnded = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#scanner = new StopScanner(options.stops);
    this.#calls = new CallReader(options.newCallId, (delta) => this.#deltas.push(delta));
    this.#chunks = new ChunkReader(options.secret);
  }

  get hasReason(): boolean {
    return this.#reason !== undefined;
  }

  /** The deltas since the last call. */
  take(): readonly ChatDelta[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }

  read(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (isDone(event)) this.#end();
      else this.#readChunkOrText(this.#chunks.read(event));
      if (this.isEnded) return;
    }
  }

  /** The events ended. */
  end(): void {
    if (!this.hasReason) throw failed('ended the answer prematurely');
    this.#end();
  }

  #readChunkOrText(chunk: Chunk | string): void {
    const { topLogprobs, isCallForced, stops, usage } = this.#options;
    if (typeof chunk !== 'string') this.#readChunk(chunk);
    else if (!this.#hasBegun || this.#isThinking || isCallForced || topLogprobs !== undefined || stops.length > 0)
      this.#readChunk({ ...ONLY_TEXT, text: chunk });
    else {
      // Nearly every chunk of most answers.
      usage.completionTokens += 1;
      this.#addLength(chunk.length);
      this.#deltas.push({ kind: 'text', text: chunk });
    }
  }

  #addLength(characters: number): void {
    this.#length += characters;
    if (this.#length > MAX_TEXT) throw failed(`sent more than ${MAX_TEXT} characters`);
  }

  #readChunk(chunk: Chunk): void {
    const { topLogprobs, isCallForced, keepsReasoning = false, usage } = this.#options;
    if (!this.#hasBegun && (!isCallForced || chunk.calls.length > 0)) this.#begin();
    count(usage, chunk);
    this.#addLength(chunk.text.length + chunk.reasoning.length);
    for (const call of chunk.calls) this.#addLength(call.arguments.length);
    // Tokens of calls are not emitted.
    if (topLogprobs !== undefined && !isCallForced && chunk.calls.length === 0) {
      if (this.#logprobs.length + chunk.logprobs.length > MAX_HELD_LOGPROBS)
        throw failed('sent log-probabilities without text');
      this.#logprobs.push(...chunk.logprobs);
    }
    if (chunk.reasoning !== '') {
      // The log-probabilities are those of the content.
      this.#logprobs = [];
      this.#think(`${keepsReasoning && !this.#isThinking ? '<think>' : ''}${chunk.reasoning}`);
      this.#isThinking = keepsReasoning;
    }
    if (this.#isThinking && chunk.text.length + chunk.calls.length > 0) {
      this.#think('</think>');
      this.#isThinking = false;
    }
    const { text, stop } = this.#scanner.push(isCallForced ? '' : chunk.text);
    if (text !== '') this.#deltas.push(this.#textDelta(text));
    if (stop !== undefined) {
      this.isEnded = true;
      this.#deltas.push({ kind: 'end', reason: 'stop' });
      return;
    }
    for (const piece of chunk.calls) this.#calls.take(piece);
    this.#reason = chunk.reason ?? this.#reason;
    if (this.#reason === 'abort' || this.#reason === 'error') throw failed('aborted the answer');
  }

  #end(): void {
    const hasCalls = this.#calls.count > 0;
    if (this.#options.isCallForced && !hasCalls && finishReason(this.#reason, false) === 'stop')
      throw textInsteadOfCall();
    this.isEnded = true;
    if (!this.#hasBegun) this.#begin();
    const rest = this.#scanner.end();
    if (rest !== '') this.#deltas.push(this.#textDelta(rest));
    this.#calls.end();
    this.#deltas.push({ kind: 'end', reason: finishReason(this.#reason, hasCalls) });
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#deltas.push({ kind: 'begin' });
    if (this.#thought !== '') this.#think(this.#thought);
  }

  #think(text: string): void {
    if (this.#hasBegun) this.#deltas.push({ kind: this.#options.keepsReasoning ? 'text' : 'reasoning', text });
    else this.#thought += text;
  }

  #textDelta(text: string): ChatDelta {
    const { topLogprobs } = this.#options;
    if (topLogprobs === undefined) return { kind: 'text', text };
    const shown = this.#logprobs.map((each) => ({ ...each, top_logprobs: each.top_logprobs.slice(0, topLogprobs) }));
    this.#logprobs = [];
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
  readonly #onDelta: (delta: ChatDelta) => void;
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;
  count = 0;

  constructor(newId: () => string, onDelta: (delta: ChatDelta) => void) {
    this.#newId = newId;
    this.#onDelta = onDelta;
  }

  take(piece: CallPiece): void {
    let call = this.#known(piece);
    if (!call) {
      this.end();
      call = this.#begin(piece);
    }
    if (!call.isEmitted) {
      call.id = piece.id || call.id;
      call.name = piece.name || call.name;
    }
    if (piece.arguments === '') return;
    this.#emit(call);
    call.length += piece.arguments.length;
    if (call.length > MAX_ARGUMENTS) throw failed(`sent more than ${MAX_ARGUMENTS} characters of arguments`);
    this.#onDelta({ kind: 'arguments', at: call.at, text: piece.arguments });
  }

  /** Ends the last call. */
  end(): void {
    if (this.#last) this.#emit(this.#last);
  }

  #emit(call: Call): void {
    if (call.isEmitted) return;
    if (call.name === '') throw failed('sent a call without a name');
    call.isEmitted = true;
    this.#onDelta({ kind: 'call', at: call.at, id: call.id || this.#newId(), name: call.name });
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
