// The typed client of the inference service: models, streamed chats, the network, receipts.
import { objectOf, textOf } from '../http/answer-text.ts';
import { fetchBounded, reasonOf } from '../http/fetch-bounded.ts';
import { BrokenStreamError, readSse } from '../http/read-sse.ts';
import { baseOf, errorTextOf, type KeySource, keyOf, openStream } from '../http/service-address.ts';
import type { LedgerOptions } from '../verify/check-ledger.ts';
import { type LedgerMemory, ledgerMemory } from '../verify/ledger-memory.ts';
import type { VerifiedAnswer } from '../verify/verify-answer.ts';
import type { ChatContent, ChatRecord } from './chat-record.ts';
import type { ChatCompletionChunk, ChatCompletionRequest, Model, Network, NewKey, Receipt } from './gateway-types.ts';
import { type AnswerEvent, eventsOfChunk } from './inference-events.ts';
import { InferenceProblem, problemIn, responseProblem, unreachable, unreadable } from './inference-problem.ts';

export interface InferenceClientOptions {
  /** The service's URL, such as `https://inference.example`, with or without `/v1`; in a page `location.origin`. */
  readonly baseUrl: string;
  readonly key?: KeySource;
  /** By default the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** For one complete answer, and for the start of a stream. */
  readonly timeoutMs?: number | undefined;
  /** Storage of the ledger between verifications; by default the lifetime of the client. */
  readonly memory?: LedgerMemory | undefined;
}

/** A chat request; the answer is always a stream. */
export type ChatRequest = Omit<ChatCompletionRequest, 'stream'>;

export interface InferenceCallOptions {
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Limits of an answer, against broken and hostile services. */
export interface AnswerLimits {
  /** Time without a byte after which the answer is interrupted; the service sends a comment every ten seconds. */
  readonly idleTimeoutMs?: number | undefined;
  /** From the request to the end. */
  readonly totalMs?: number | undefined;
  /** Characters of one event of the stream, and of all events. */
  readonly maxEventChars?: number | undefined;
  readonly maxAnswerChars?: number | undefined;
}

export interface AnswerOptions extends InferenceCallOptions, AnswerLimits {}

export interface ChatOptions extends AnswerOptions {
  /** Called when the answer starts; its receipt will have this id. */
  readonly onStart?:
    | ((start: { readonly receiptId: string | null; readonly requestId: string | null }) => void)
    | undefined;
  /** Called when the answer is complete; not called without a receipt. */
  readonly onEnd?: ((record: ChatRecord) => void) | undefined;
}

/** A receipt with its verification. */
export interface VerifiedReceipt {
  readonly receipt: Receipt;
  readonly verification: VerifiedAnswer;
  /** Whether the receipt is of the request and answer of the record; null where only an id was given. */
  readonly matchesRecord: boolean | null;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** The service sends a comment every ten seconds. */
const SILENT_MS = 45_000;
/** A slow model needs an hour for its longest answer. */
const TOTAL_MS = 2 * 3_600_000;
/** A chunk contains a few tokens, possibly with log probabilities. */
const MAX_EVENT_CHARS = 1024 * 1024;
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;

export class InferenceClient {
  readonly #base: URL;
  /** Path prefix of the service on its host; usually empty. */
  readonly #path: string;
  readonly #options: InferenceClientOptions;
  readonly #memory: LedgerMemory;

  constructor(options: InferenceClientOptions) {
    this.#base = baseOf(options.baseUrl);
    this.#path = this.#base.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#options = options;
    this.#memory = options.memory ?? ledgerMemory();
  }

  /** Creates a free key. Rejects with a problem of status 404 where the service offers none, and 429 above the daily limit. */
  static async createKey(
    baseUrl: string,
    { fetch, signal }: Pick<InferenceClientOptions, 'fetch'> & InferenceCallOptions = {},
  ): Promise<NewKey> {
    const client = new InferenceClient({ baseUrl, fetch });
    const { body, url } = await client.#get('/keys', { signal, method: 'POST' });
    if (typeof body.key !== 'string') throw unreadable(`${url} returned no key.`, 200);
    return body as unknown as NewKey;
  }

  async models(options: InferenceCallOptions = {}): Promise<readonly Model[]> {
    const { body, url } = await this.#get('/v1/models', options);
    if (!Array.isArray(body.data)) throw unreadable(`${url} is not a list of models.`, 200);
    return body.data as Model[];
  }

  /** Peers, models, load and reputation; rejects with a problem of status 404 where the service has no network. */
  async network(options: InferenceCallOptions = {}): Promise<Network> {
    return (await this.#get('/network', options)).body as unknown as Network;
  }

  /**
   * Sends a request and yields the answer while it is generated. Ends when the answer is complete; throws an `InferenceProblem` where it is
   * interrupted. Leaving the loop stops the generation.
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
   * Sends a request and yields the events of the answer: start, text, finish reason, usage, record. Of several choices, only the first.
   * Ends, throws and stops like `chat`.
   */
  async *answer(request: ChatRequest, options: AnswerOptions = {}): AsyncGenerator<AnswerEvent, void, undefined> {
    for await (const step of this.#exchange(request, options)) {
      if (step.kind === 'chunk') yield* eventsOfChunk(step.chunk);
      else yield step;
    }
  }

  async *#exchange(request: ChatRequest, options: AnswerOptions): AsyncGenerator<Step, void, undefined> {
    const { signal, idleTimeoutMs: silentMs = SILENT_MS, totalMs = TOTAL_MS } = options;
    const { maxEventChars = MAX_EVENT_CHARS, maxAnswerChars = MAX_ANSWER_CHARS } = options;
    signal?.throwIfAborted();
    const sent = JSON.stringify({ ...request, stream: true });
    // Imported when needed, so that pages load faster.
    const { ChatContent, digestOf } = await import('./chat-record.ts');
    const connection = new AbortController();
    const timeout = new BrokenStreamError(`not complete after ${totalMs / 1_000} s`);
    const timer = setTimeout(() => connection.abort(timeout), totalMs);
    const content = new ChatContent();
    let chars = 0;
    let requestId: string | null = null;
    try {
      const { body, headers } = await this.#open(sent, { signal, connection });
      const receiptId = headers.get('x-receipt-id');
      requestId = headers.get('x-request-id');
      const salt = headers.get('x-receipt-salt');
      const requestSha256 = digestOf(sent, salt);
      yield { kind: 'begun', receiptId, salt, requestId, requestSha256 };
      for await (const item of readSse(body, { silentMs, maxEventChars })) {
        // Events that arrived before the abort are not yielded any more.
        signal?.throwIfAborted();
        if (item.kind === 'retry') continue;
        if (item.data === '[DONE]') {
          const record =
            receiptId === null ? null : { receiptId, salt, requestSha256, answerSha256: content.digest(salt) };
          yield { kind: 'whole', record };
          return;
        }
        chars += item.data.length;
        if (chars > maxAnswerChars) throw unreadable(`The answer is longer than ${maxAnswerChars} characters.`, 200);
        yield { kind: 'chunk', chunk: takeChunk(item.data, content, requestId) };
      }
      throw unreachable('The connection ended before the answer was complete.', { requestId });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof BrokenStreamError)
        throw unreachable(`The answer was interrupted: ${error.message}.`, { requestId, cause: error });
      // `fetch` and its streams throw a TypeError for connection errors.
      if (error instanceof TypeError)
        throw unreachable(`The service cannot be reached: ${reasonOf(error, TIMEOUT_MS)}.`, {
          requestId,
          cause: error,
        });
      throw error;
    } finally {
      clearTimeout(timer);
      connection.abort();
    }
  }

  /** The receipt of a completed answer of this key. */
  async receipt(
    id: string,
    options: InferenceCallOptions = {},
  ): Promise<{ readonly body: Receipt; readonly text: string }> {
    const { body, text } = await this.#get(`/v1/receipts/${encodeURIComponent(id)}`, options);
    return { body: body as unknown as Receipt, text };
  }

  /** Fetches a receipt, verifies it with the keys and ledger of the service, and compares it with the record. */
  async verify(
    record: ChatRecord | string,
    options: InferenceCallOptions & LedgerOptions = {},
  ): Promise<VerifiedReceipt> {
    const { signal, ...ledger } = options;
    const { body, text } = await this.receipt(typeof record === 'string' ? record : record.receiptId, options);
    // Imported when needed, so that pages load faster.
    const { digestsIn } = await import('./chat-record.ts');
    const { verifyBody } = await import('../verify/verify-answer.ts');
    const verification = await verifyBody(text, {
      ...ledger,
      memory: this.#memory,
      baseUrl: this.#base.origin,
      fetch: this.#fetch,
      ...(signal && { signal }),
    });
    if (typeof record === 'string') return { receipt: body, verification, matchesRecord: null };
    const digests = digestsIn(body, record.salt ?? null);
    const isOfThese =
      record.requestSha256 === digests.request &&
      record.answerSha256 === digests.answer &&
      record.receiptId === body.provenance?.receipt_id;
    return { receipt: body, verification, matchesRecord: isOfThese };
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
    if (status >= 400) throw responseProblem(status, headers, text);
    const body = objectOf(text);
    if (!body) throw unreadable(`${url} is not a JSON object.`, status);
    return { body, text, url };
  }

  async #open(sent: string, ends: { readonly signal: AbortSignal | undefined; readonly connection: AbortController }) {
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
    if (status >= 400) throw responseProblem(status, response.headers, await errorTextOf(response, opening));
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
    const message = 'The API key contains characters that are not allowed in a key.';
    throw new InferenceProblem({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error', message });
  }
}

/** The steps of an exchange, from which `chat` and `answer` produce their output. */
type Step =
  | { readonly kind: 'chunk'; readonly chunk: ChatCompletionChunk }
  | Extract<AnswerEvent, { readonly kind: 'begun' | 'whole' }>;

function takeChunk(data: string, content: ChatContent, requestId: string | null): ChatCompletionChunk {
  const body = objectOf(data);
  const problem = problemIn(body, { status: 200, requestId });
  if (problem) throw problem;
  try {
    // The types are not validated: a chunk of another shape throws when it is added. A string would be iterated as choices.
    if (!Array.isArray(body?.choices)) throw new TypeError('no choices');
    content.take(body as unknown as ChatCompletionChunk);
  } catch {
    throw unreadable('The stream contains a chunk that cannot be read.', 200);
  }
  return body as unknown as ChatCompletionChunk;
}
