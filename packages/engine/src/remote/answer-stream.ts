// The tokens of one answer of a server, checked: in the vocabulary, no more than asked, with an end.
import type { Job, JobEvent } from '../engine.ts';
import { errorOf, errorShape, failed, jsonOf, refusalInStream } from '../upstream/errors.ts';
import type { UpstreamHttp } from '../upstream/http.ts';
import { AnswerEvents, isDone, type StreamEvent } from '../upstream/response.ts';
import type { Dialect, GenerateAsk, Piece, ReadChoice, ReadToken } from './dialect.ts';
import { type PromptText, textOf, tokensOf } from './text-server.ts';

export interface AnswerStreamDeps {
  readonly http: UpstreamHttp;
  readonly dialect: Dialect;
  readonly model: string;
  readonly vocabularySize: number;
  readonly contextLength: number;
  readonly ends: ReadonlySet<number>;
  /** Of a server without token ids. */
  readonly text?: PromptText | undefined;
  readonly firstMs: number;
  readonly idleMs: number;
}

/** Tokens of the request that is sent where a stream left tokens out. */
const BATCH_TOKENS = 16;
const MAX_DOUBLINGS = 10;
/** Servers keep a few positions of their context free. */
const CONTEXT_SLACK = 16;
/** Gateways convert tokens to text. */
const NO_BYTES = new Uint8Array();

/** Rejects with EngineError, with CompletionError for a request that the server refuses, or with the signal's reason. */
export class AnswerStream {
  readonly #deps: AnswerStreamDeps;
  readonly #job: Job;
  readonly #signal: AbortSignal;
  /** The tokens of the answer, given ones included. */
  readonly #answer: number[];
  #hasBegun = false;
  #promptText: string | undefined;
  /** An end of the answer that is not known to be its last token yet. */
  #held: ReadToken | undefined;

  constructor(deps: AnswerStreamDeps, job: Job, signal: AbortSignal) {
    this.#deps = deps;
    this.#job = job;
    this.#signal = signal;
    this.#answer = [...job.given];
  }

  async *events(): AsyncGenerator<JobEvent> {
    let end: Piece['end'];
    let batches = 0;
    for (let gaps = 0; end === undefined; ) {
      const left = this.#left;
      if (left <= 0) end = 'length';
      else if (batches > 0) {
        batches -= 1;
        const before = this.#answer.length;
        end = yield* this.#read({ count: Math.min(left, BATCH_TOKENS), isStreamed: false });
        // Such a request ends at its number of tokens.
        if (end === 'length' && this.#answer.length < this.#job.maxTokens && !this.#isFull) end = undefined;
        if (end === undefined && this.#answer.length === before) throw failed('sent no token');
      } else {
        const before = this.#answer.length;
        end = yield* this.#read({ count: left, isStreamed: true });
        if (end === undefined && this.#deps.text && this.#answer.length === before) throw tooEarly();
        // More and more is read without a stream where one is of no use.
        if (end === undefined && !this.#deps.text) batches = 2 ** Math.min(gaps++, MAX_DOUBLINGS);
      }
    }
    if (!this.#hasBegun) yield { kind: 'begin', cachedTokens: 0 };
    if (end === 'length' && this.#answer.length < this.#job.maxTokens && !this.#isFull) throw tooEarly();
    yield { kind: 'end', reason: end };
  }

  /** Undefined: continue from the last known token. */
  async *#read(ask: Pick<GenerateAsk, 'count' | 'isStreamed'>): AsyncGenerator<JobEvent, Piece['end']> {
    for await (const piece of this.#pieces(ask)) {
      yield* this.#take(piece);
      if (piece.hasGap) {
        this.#held = undefined;
        return undefined;
      }
      if (piece.end !== undefined) return piece.end;
    }
    return ask.isStreamed ? undefined : 'length';
  }

  /** Servers refuse a request for more tokens than their context has, SGLang also for its last ones. */
  get #left(): number {
    const { prompt, maxTokens } = this.#job;
    const fitting = this.#deps.contextLength - CONTEXT_SLACK - prompt.length - this.#answer.length;
    return Math.min(maxTokens - this.#answer.length, Math.max(1, fitting));
  }

  get #isFull(): boolean {
    return this.#job.prompt.length + this.#answer.length + CONTEXT_SLACK >= this.#deps.contextLength;
  }

  *#take({ tokens, cachedTokens, end }: Piece): Generator<JobEvent> {
    if (!this.#hasBegun && (tokens.length > 0 || cachedTokens !== undefined)) {
      this.#hasBegun = true;
      yield { kind: 'begin', cachedTokens: Math.min(cachedTokens ?? 0, this.#job.prompt.length) };
    }
    for (const token of tokens) {
      this.#check(token);
      for (const each of [token, ...token.top]) this.#check(each);
      // Only the last token may be an end, and it is not part of the answer.
      if (this.#held) yield this.#add(this.#held);
      this.#held = this.#deps.ends.has(token.token) ? token : undefined;
      if (!this.#held) yield this.#add(token);
    }
    if (end === 'length' && this.#held) yield this.#add(this.#held);
    if (end !== undefined) this.#held = undefined;
  }

  #check({ token }: ReadChoice): void {
    if (token >= this.#deps.vocabularySize) throw failed(`sent a token outside the vocabulary: ${token}`);
  }

  #add({ token, logprob, top }: ReadToken): JobEvent {
    if (this.#answer.length >= this.#job.maxTokens) throw failed('sent more tokens than requested');
    this.#answer.push(token);
    const withBytes = (choice: ReadChoice) => ({ ...choice, bytes: NO_BYTES });
    return { kind: 'token', ...withBytes({ token, logprob }), top: top.map(withBytes) };
  }

  /** The server counts tokens otherwise: its text is cut at the limit, and continued where it ends before. */
  async #withTokens(piece: Piece): Promise<Piece> {
    const { text } = this.#deps;
    if (!text) return piece;
    const made = await tokensOf(piece.text ?? '', text.vocabulary);
    const left = this.#job.maxTokens - this.#answer.length;
    const tokens = made.slice(0, left).map((token) => ({ token, logprob: 0, top: [] }));
    if (made.length > left || (made.length === left && piece.end !== 'stop')) return { tokens, end: 'length' };
    return piece.end === 'length' && !this.#isFull ? { tokens, hasGap: true } : { tokens, end: piece.end };
  }

  /** The answer so far may be other tokens at the server, with the same text. */
  async #text(): Promise<string> {
    const { text } = this.#deps;
    if (!text) return '';
    this.#promptText ??= await textOf(this.#job.prompt, text);
    return this.#promptText + (await text.vocabulary.detokenize(this.#answer));
  }

  async *#pieces({ count, isStreamed }: Pick<GenerateAsk, 'count' | 'isStreamed'>): AsyncGenerator<Piece> {
    const { http, dialect, model, firstMs, idleMs } = this.#deps;
    const { prompt } = this.#job;
    const job = { ...this.#job, given: this.#answer };
    const [tokens, text] = [[...prompt, ...this.#answer], await this.#text()];
    const ask: GenerateAsk = { model, job, tokens, text, count, isStreamed };
    const request = { path: dialect.path, body: dialect.body(ask), signal: this.#signal };
    const read = dialect.reader(ask);
    if (!isStreamed) {
      yield read(await http.json(request));
      return;
    }
    const opened = await http.open(request);
    const events = new AnswerEvents(opened, { firstMs, idleMs, signal: this.#signal });
    let isEnded = false;
    try {
      for (let some = await events.next(); !some.done; some = await events.next())
        for (const event of some.value) {
          if (isDone(event)) continue;
          const piece = await this.#withTokens(read(checkedValue(event, http.secret)));
          isEnded ||= piece.end !== undefined || piece.hasGap === true;
          yield piece;
        }
    } finally {
      await events.return();
    }
    if (!isEnded) throw failed('ended the answer prematurely');
  }
}

const tooEarly = () => failed('ended the answer before its limit');

/** Throws the error that the server reports within the stream. */
function checkedValue({ type, data }: StreamEvent, secret: string | undefined): unknown {
  const value = jsonOf(data);
  if (value === undefined) throw failed('sent an event that is not JSON');
  const isError = typeof value === 'object' && value !== null && 'error' in value && value.error !== null;
  if (type === 'error' || isError || errorShape.safeParse(value).success) throw errorOf(refusalInStream(data, secret));
  return value;
}
