// The typed client of the inference service: models, a chat as it is written, the network, receipts.
import { objectOf, textOf } from '../http/answer-text.ts';
import { fetchBounded, reasonOf } from '../http/fetch-bounded.ts';
import { BrokenStreamError, readSse } from '../http/read-sse.ts';
import { baseOf, type KeySource, keyOf, openStream, textOfRefusal } from '../http/service-address.ts';
import type { LedgerOptions } from '../verify/check-ledger.ts';
import { type LedgerMemory, ledgerMemory } from '../verify/ledger-memory.ts';
import type { VerifiedAnswer } from '../verify/verify-answer.ts';
import type { ChatContent, ChatRecord } from './chat-record.ts';
import type { ChatCompletionChunk, ChatCompletionRequest, Model, Network, NewKey, Receipt } from './gateway-types.ts';
import { type AnswerEvent, eventsOfChunk } from './inference-events.ts';
import { InferenceProblem, refusedBy, toldProblem, unreachable, unreadable } from './inference-problem.ts';

export interface InferenceClientOptions {
  /** The service's address, such as `https://inference.example`, with or without `/v1`; in a page `location.origin`. */
  readonly baseUrl: string;
  readonly key?: KeySource;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** For one whole answer, and until a stream begins. */
  readonly timeoutMs?: number | undefined;
  /** Where the ledger is remembered between two checks; as long as the client lives by default. */
  readonly memory?: LedgerMemory | undefined;
}

/** What the service is asked; it is always answered as a stream. */
export type ChatRequest = Omit<ChatCompletionRequest, 'stream'>;

export interface InferenceCallOptions {
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What one answer may cost whoever reads it; a service that is broken or hostile sends without an end. */
export interface AnswerBounds {
  /** Without a byte for so long it counts as broken off; the service sends a comment every ten seconds. */
  readonly silentMs?: number | undefined;
  /** From the question to the end, whatever comes. */
  readonly totalMs?: number | undefined;
  /** Characters of one event of the stream, and of all of them together. */
  readonly maxEventChars?: number | undefined;
  readonly maxAnswerChars?: number | undefined;
}

export interface AnswerOptions extends InferenceCallOptions, AnswerBounds {}

export interface ChatOptions extends AnswerOptions {
  /** The answer has begun; its receipt will have this id. */
  readonly onStart?:
    | ((start: { readonly receiptId: string | null; readonly requestId: string | null }) => void)
    | undefined;
  /** The answer is whole. Not called where there is no receipt. */
  readonly onEnd?: ((record: ChatRecord) => void) | undefined;
}

/** A receipt that was fetched and checked. */
export interface VerifiedReceipt {
  readonly receipt: Receipt;
  readonly verification: VerifiedAnswer;
  /** Whether it is of the very request and answer of the record; null where only an id was given. */
  readonly isOfThese: boolean | null;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** Whoever waits hears a comment every ten seconds. */
const SILENT_MS = 45_000;
/** A slow model writes its longest answer in an hour. */
const TOTAL_MS = 2 * 3_600_000;
/** A chunk holds a token or a few, with log-probabilities perhaps. */
const MAX_EVENT_CHARS = 1024 * 1024;
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;

export class InferenceClient {
  readonly #base: URL;
  /** Below which the service stands on its host; empty nearly always. */
  readonly #path: string;
  readonly #options: InferenceClientOptions;
  readonly #memory: LedgerMemory;

  constructor(options: InferenceClientOptions) {
    this.#base = baseOf(options.baseUrl);
    this.#path = this.#base.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#options = options;
    this.#memory = options.memory ?? ledgerMemory();
  }

  /** Gets a free key, where the service gives them away; a problem of status 404 where it does not, of 429 where that was enough for today. */
  static async createKey(
    baseUrl: string,
    { fetch, signal }: Pick<InferenceClientOptions, 'fetch'> & InferenceCallOptions = {},
  ): Promise<NewKey> {
    const client = new InferenceClient({ baseUrl, fetch });
    const { body, url } = await client.#get('/keys', { signal, method: 'POST' });
    if (typeof body.key !== 'string') throw unreadable(`${url} gave no key.`, 200);
    return body as unknown as NewKey;
  }

  async models(options: InferenceCallOptions = {}): Promise<readonly Model[]> {
    const { body, url } = await this.#get('/v1/models', options);
    if (!Array.isArray(body.data)) throw unreadable(`${url} is not a list of models.`, 200);
    return body.data as Model[];
  }

  /** Peers, models, load and standing; a problem of status 404 where the service is on no network. */
  async network(options: InferenceCallOptions = {}): Promise<Network> {
    return (await this.#get('/network', options)).body as unknown as Network;
  }

  /**
   * Asks, and gives the answer as it is written. Ends when the answer is whole; throws an `InferenceProblem` where it
   * breaks off. Leaving the loop stops the answer.
   */
  async *chat(request: ChatRequest, options: ChatOptions = {}): AsyncGenerator<ChatCompletionChunk, void, undefined> {
    const { onStart, onEnd } = options;
    for await (const step of this.#exchange(request, options)) {
      if (step.kind === 'begun') onStart?.({ receiptId: step.receiptId, requestId: step.requestId });
      else if (step.kind === 'chunk') yield step.chunk;
      else if (step.record !== null) onEnd?.(step.record);
    }
  }

  /**
   * Asks, and tells what happens to the answer: that it has begun, its text, why it ended, what it counted, its record.
   * Of several choices only the first. Ends, throws and stops as `chat` does.
   */
  async *answer(request: ChatRequest, options: AnswerOptions = {}): AsyncGenerator<AnswerEvent, void, undefined> {
    for await (const step of this.#exchange(request, options)) {
      if (step.kind === 'chunk') yield* eventsOfChunk(step.chunk);
      else yield step;
    }
  }

  async *#exchange(request: ChatRequest, options: AnswerOptions): AsyncGenerator<Step, void, undefined> {
    const { signal, silentMs = SILENT_MS, totalMs = TOTAL_MS } = options;
    const { maxEventChars = MAX_EVENT_CHARS, maxAnswerChars = MAX_ANSWER_CHARS } = options;
    signal?.throwIfAborted();
    const sent = JSON.stringify({ ...request, stream: true });
    // Like what verifies: a page is there before it needs digests.
    const { ChatContent, digestOf } = await import('./chat-record.ts');
    const line = new AbortController();
    const late = new BrokenStreamError(`it is not over after ${totalMs / 1_000} s`);
    const timer = setTimeout(() => line.abort(late), totalMs);
    const said = new ChatContent();
    let chars = 0;
    let requestId: string | null = null;
    try {
      const { body, headers } = await this.#open(sent, { signal, line });
      const receiptId = headers.get('x-receipt-id');
      requestId = headers.get('x-request-id');
      const salt = headers.get('x-receipt-salt');
      const requestSha256 = digestOf(sent, salt);
      yield { kind: 'begun', receiptId, salt, requestId, requestSha256 };
      for await (const item of readSse(body, { silentMs, maxEventChars })) {
        // What came before the abort and was not read yet is not read any more.
        signal?.throwIfAborted();
        if (item.kind === 'retry') continue;
        if (item.data === '[DONE]') {
          const record =
            receiptId === null ? null : { receiptId, salt, requestSha256, answerSha256: said.digest(salt) };
          yield { kind: 'whole', record };
          return;
        }
        chars += item.data.length;
        if (chars > maxAnswerChars) throw unreadable(`The answer is longer than ${maxAnswerChars} characters.`, 200);
        yield { kind: 'chunk', chunk: takeChunk(item.data, said, requestId) };
      }
      throw unreachable('The connection broke off before the answer was over.', { requestId });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof BrokenStreamError)
        throw unreachable(`The answer broke off: ${error.message}.`, { requestId, cause: error });
      // What fetch and its streams throw when the connection ends.
      if (error instanceof TypeError)
        throw unreachable(`The service cannot be reached: ${reasonOf(error, TIMEOUT_MS)}.`, {
          requestId,
          cause: error,
        });
      throw error;
    } finally {
      clearTimeout(timer);
      line.abort();
    }
  }

  /** The receipt of one of the key's answers, once that is over. */
  async receipt(
    id: string,
    options: InferenceCallOptions = {},
  ): Promise<{ readonly body: Receipt; readonly text: string }> {
    const { body, text } = await this.#get(`/v1/receipts/${encodeURIComponent(id)}`, options);
    return { body: body as unknown as Receipt, text };
  }

  /** Fetches a receipt, checks it against the service's keys and ledger, and that it is of this request and answer. */
  async verify(
    record: ChatRecord | string,
    options: InferenceCallOptions & LedgerOptions = {},
  ): Promise<VerifiedReceipt> {
    const { signal, ...ledger } = options;
    const { body, text } = await this.receipt(typeof record === 'string' ? record : record.receiptId, options);
    // Loaded when they are needed: a page shows answers without them.
    const { digestsIn } = await import('./chat-record.ts');
    const { verifyBody } = await import('../verify/verify-answer.ts');
    const verification = await verifyBody(text, {
      ...ledger,
      memory: this.#memory,
      baseUrl: this.#base.origin,
      fetch: this.#fetch,
      ...(signal && { signal }),
    });
    if (typeof record === 'string') return { receipt: body, verification, isOfThese: null };
    const digests = digestsIn(body, record.salt ?? null);
    const isOfThese =
      record.requestSha256 === digests.request &&
      record.answerSha256 === digests.answer &&
      record.receiptId === body.provenance?.receipt_id;
    return { receipt: body, verification, isOfThese };
  }

  async #get(path: string, { signal, method = 'GET' }: InferenceCallOptions & { readonly method?: 'GET' | 'POST' }) {
    signal?.throwIfAborted();
    const url = new URL(this.#path + path, this.#base);
    const fetched = await fetchBounded(url, {
      fetch: this.#fetch,
      maxBytes: MAX_ANSWER_BYTES,
      method,
      headers: this.#headers(),
      timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS,
      signal,
    });
    if (!fetched.ok) {
      const message = `${fetched.problem}.`;
      throw fetched.status === undefined ? unreachable(message) : unreadable(message, fetched.status);
    }
    const { content, headers, status } = fetched;
    const text = textOf(content) ?? '';
    if (status >= 400) throw refusedBy(status, headers, text);
    const body = objectOf(text);
    if (!body) throw unreadable(`${url} is not a JSON object.`, status);
    return { body, text, url };
  }

  async #open(sent: string, ends: { readonly signal: AbortSignal | undefined; readonly line: AbortController }) {
    const url = new URL(`${this.#path}/v1/chat/completions`, this.#base);
    const headers = { ...this.#headers(), 'Content-Type': 'application/json' };
    const opening = {
      ...ends,
      fetch: this.#fetch,
      init: { method: 'POST', headers, body: sent },
      connectMs: this.#options.timeoutMs ?? TIMEOUT_MS,
    };
    const response = await openStream(url, opening);
    const { status, body } = response;
    if (status >= 400) throw refusedBy(status, response.headers, await textOfRefusal(response, opening));
    if (!body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw unreadable(`${url} did not answer with a stream.`, status);
    return { body, headers: response.headers };
  }

  get #fetch(): typeof globalThis.fetch {
    return this.#options.fetch ?? globalThis.fetch;
  }

  #headers(): Record<string, string> {
    const { key, unusable } = keyOf(this.#options.key);
    if (!unusable) return key === undefined ? {} : { Authorization: `Bearer ${key}` };
    const message = 'The key holds characters that no key has.';
    throw new InferenceProblem({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error', message });
  }
}

/** What comes of one question, before it is put in the form that was asked for. */
type Step =
  | { readonly kind: 'chunk'; readonly chunk: ChatCompletionChunk }
  | Extract<AnswerEvent, { readonly kind: 'begun' | 'whole' }>;

function takeChunk(data: string, said: ChatContent, requestId: string | null): ChatCompletionChunk {
  const body = objectOf(data);
  const problem = toldProblem(body, { status: 200, requestId });
  if (problem) throw problem;
  try {
    // The types are the service's promise; what does not hold to it cannot be put together either. Letters would count as choices.
    if (!Array.isArray(body?.choices)) throw new TypeError('no choices');
    said.take(body as unknown as ChatCompletionChunk);
  } catch {
    throw unreadable('The stream holds a chunk that cannot be read.', 200);
  }
  return body as unknown as ChatCompletionChunk;
}
