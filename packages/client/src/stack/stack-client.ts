// The typed client of the stack service: requests, paged lists, the event stream, receipts.
import { fetchBounded } from '../http/fetch-bounded.ts';
import { baseOf, type KeySource } from '../http/service-address.ts';
import type { LedgerOptions } from '../verify/check-ledger.ts';
import { type LedgerMemory, ledgerMemory } from '../verify/ledger-memory.ts';
import type { VerifiedAnswer } from '../verify/verify-answer.ts';
import { answerOf, keyHeaders, type StackAnswer } from './stack-answer.ts';
import { type CheckLedgerOptions, type EventFilter, followEvents, type StackEvent } from './stack-events.ts';
import { type PagedItems, type PagedPath, pageIn } from './stack-pages.ts';
import { invalidAnswer, StackProblem } from './stack-problem.ts';
import {
  type AnyInput,
  type AnyStackPath,
  addressOf,
  type BarePath,
  curlOf,
  type StackInput,
  type StackPath,
} from './stack-request.ts';
import type { StackChanges, StackPaths, StackPosts } from './stack-types.ts';

export interface StackClientOptions {
  /** The service's origin, such as `https://strata.example`; in a page `location.origin`. */
  readonly baseUrl: string;
  readonly key?: KeySource;
  /** By default the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** For one complete answer; does not apply to streams. */
  readonly timeoutMs?: number | undefined;
  /** Storage of the ledger between verifications; by default the lifetime of the client. */
  readonly memory?: LedgerMemory | undefined;
}

export interface LookupOptions extends CallOptions {
  /** The columns of the rows; by default all. */
  readonly fields?: readonly string[] | undefined;
}

export interface CallOptions {
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface VerifyOptions extends CallOptions, LedgerOptions {}

/** A free key; it is shown only once. */
export type NewKey = Pick<StackPosts['/keys']['body'], 'key' | 'key_id' | 'tier' | 'daily_limit'>;

/** The body of a query; `docs/query-language.md` has the language. */
interface DomainQuery {
  readonly query: string;
  /** `name`, or `score` or `scanned_at`, descending with `-` before it. */
  readonly sort?: string | undefined;
  /** Counts of all results by these values: `provider`, a category, `tld`, `sector`, `state`, `grade`. */
  readonly facets?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

type QueryAnswer = StackAnswer<StackPosts['/stack/v1/query']['body']>;
type LookupAnswer = StackAnswer<StackPosts['/stack/v1/domains:lookup']['body']>;

/** Requests that change something: method and path. */
export type StackWrites = { [P in keyof StackPosts as `POST ${P}`]: StackPosts[P] } & StackChanges;

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

type TextPath = { [P in StackPath]: StackPaths[P]['body'] extends string ? P : never }[StackPath];
/** The paths whose answers are text. The response does not decide how it is parsed. */
const TEXT_PATHS: Readonly<Record<TextPath, true>> = {
  '/stack/v1/security/export.csv': true,
  '/stack/v1/migrations/export.csv': true,
  '/stack/v1/providers/{provider}/domains.csv': true,
  '/stack/v1/providers/{provider}/customers.csv': true,
  '/email/{action}': true,
  '/ledger/checkpoint': true,
  '/ledger/receipts/{ledger_receipt_id}/proof': true,
};

export class StackClient {
  readonly #base: URL;
  readonly #options: StackClientOptions;
  readonly #memory: LedgerMemory;

  constructor(options: StackClientOptions) {
    this.#base = baseOf(options.baseUrl);
    this.#options = options;
    this.#memory = options.memory ?? ledgerMemory();
  }

  /** Sends one request. Rejects with a `StackProblem`, or with the signal's reason. */
  get<P extends StackPath & BarePath>(
    path: P,
    input?: StackInput<P>,
    options?: CallOptions,
  ): Promise<StackAnswer<StackPaths[P]['body']>>;
  get<P extends StackPath>(
    path: P,
    input: StackInput<P>,
    options?: CallOptions,
  ): Promise<StackAnswer<StackPaths[P]['body']>>;
  async get<P extends StackPath>(
    path: P,
    input?: StackInput<P>,
    options: CallOptions = {},
  ): Promise<StackAnswer<StackPaths[P]['body']>> {
    const url = addressOf(this.#base, path, input as AnyInput);
    const fetched = await this.#fetched(url, options);
    // The client checks only that the body is an object, not its type.
    return answerOf(fetched, { url, isText: Object.hasOwn(TEXT_PATHS, path) }) as StackAnswer<StackPaths[P]['body']>;
  }

  /** What the service knows about at most 1,000 domains, one row for each, in their order. Rejects as `get` does. */
  async lookup(domains: readonly string[], { fields, ...options }: LookupOptions = {}): Promise<LookupAnswer> {
    const url = addressOf(this.#base, '/stack/v1/domains:lookup');
    const fetched = await this.#fetched(url, options, JSON.stringify({ domains, fields }));
    return answerOf(fetched, { url, isText: false }) as LookupAnswer;
  }

  /** The domains that match a query. An invalid query rejects with a `StackProblem` whose `errors` have the position. */
  query(asked: DomainQuery, options: CallOptions = {}): Promise<QueryAnswer> {
    return this.send('POST /stack/v1/query', { body: asked }, options);
  }

  /** Sends a POST, PUT or DELETE, with a JSON body if it takes one. Rejects as `get` does. */
  async send<R extends keyof StackWrites>(
    request: R,
    { body, ...input }: AnyInput & { readonly body?: unknown } = {},
    options: CallOptions = {},
  ): Promise<StackAnswer<StackWrites[R]['body']>> {
    const [method, path = ''] = request.split(' ') as ['POST' | 'PUT' | 'DELETE', string?];
    const url = addressOf(this.#base, path, input);
    const fetched = await this.#fetched(url, options, body === undefined ? undefined : JSON.stringify(body), method);
    return answerOf(fetched, { url, isText: false }) as StackAnswer<StackWrites[R]['body']>;
  }

  /** The absolute URL of a `get` request. */
  url<P extends BarePath>(path: P, input?: StackInput<P>): string;
  url<P extends AnyStackPath>(path: P, input: StackInput<P>): string;
  url<P extends AnyStackPath>(path: P, input?: StackInput<P>): string {
    return addressOf(this.#base, path, input as AnyInput);
  }

  /** A curl command for the same request, with `YOUR_KEY` as the key. */
  curl<P extends BarePath>(path: P, input?: StackInput<P>): string;
  curl<P extends AnyStackPath>(path: P, input: StackInput<P>): string;
  curl<P extends AnyStackPath>(path: P, input?: StackInput<P>): string {
    return curlOf(addressOf(this.#base, path, input as AnyInput));
  }

  /** Every entry of a list. Pages of `query.limit` entries are requested while they are read. */
  async *pages<P extends PagedPath>(
    path: P,
    input: StackInput<P>,
    options: CallOptions = {},
  ): AsyncGenerator<PagedItems[P], void, undefined> {
    const { query } = input as { readonly query?: Readonly<Record<string, unknown>> };
    for (let asked = input; ; ) {
      const { body, url } = await this.get(path, asked, options);
      const { items, next: cursor } = pageIn(path, body);
      if (!Array.isArray(items) || (cursor !== null && typeof cursor !== 'string'))
        throw invalidAnswer(`${url} is not a page of a list.`, 200);
      yield* items;
      if (cursor === null) return;
      asked = { ...input, query: { ...query, offset: undefined, cursor } } as StackInput<P>;
    }
  }

  /**
   * Events as they occur, until the loop ends. Reconnects after a broken connection and resumes at its position. Throws errors that a
   * retry cannot resolve, such as an invalid key.
   */
  events(filter: EventFilter = {}, options: CheckLedgerOptions = {}): AsyncGenerator<StackEvent, void, undefined> {
    const { types, ...rest } = filter;
    const query = { ...rest, types: types === undefined || types.length === 0 ? undefined : types.join(',') };
    const url = addressOf(this.#base, '/stack/v1/stream', { query });
    return followEvents(new URL(url), { ...options, fetch: this.#fetch, headers: () => keyHeaders(this.#options.key) });
  }

  /**
   * Verifies the receipt of an answer, of an error answer, or of the saved text of either; of an event, pass its JSON text. Compares the
   * ledger with the known one. Rejects only with the signal's reason, or an error of the memory.
   */
  async verify(
    answer: StackAnswer<unknown> | StackProblem | string,
    options: VerifyOptions = {},
  ): Promise<VerifiedAnswer> {
    const { signal, ...ledger } = options;
    const against = {
      ...ledger,
      memory: this.#memory,
      baseUrl: this.#base.origin,
      fetch: this.#fetch,
      ...(signal && { signal }),
    };
    // Imported with the first verification, so that pages load faster.
    const { verifyBody, verifyDetached } = await import('../verify/verify-answer.ts');
    if (typeof answer === 'string') return await verifyBody(answer, against);
    // Without a response there is no receipt.
    if (answer instanceof StackProblem) return await verifyBody(answer.text ?? {}, against);
    const { text, detached } = answer;
    if (!detached) return await verifyBody(text, against);
    return await verifyDetached({ content: new TextEncoder().encode(text), ...detached }, against);
  }

  /** Creates a free key without an account; limited per client address and day. */
  static async createKey(
    baseUrl: string,
    options: Pick<StackClientOptions, 'fetch'> & CallOptions = {},
  ): Promise<NewKey> {
    const url = new URL('/keys', baseOf(baseUrl));
    const fetched = await fetchBounded(url, {
      fetch: options.fetch ?? globalThis.fetch,
      maxBytes: MAX_ANSWER_BYTES,
      method: 'POST',
      timeoutMs: TIMEOUT_MS,
      signal: options.signal,
    });
    const { body } = answerOf(fetched, { url: url.href, isText: false }) as StackAnswer<NewKey>;
    if (typeof body.key !== 'string') throw invalidAnswer(`${url} returned no key.`, 200);
    const { key, key_id, tier, daily_limit } = body;
    return { key, key_id, tier, daily_limit };
  }

  async #fetched(url: string, { signal }: CallOptions, body?: string, method?: 'POST' | 'PUT' | 'DELETE') {
    signal?.throwIfAborted();
    return await fetchBounded(new URL(url), {
      fetch: this.#fetch,
      maxBytes: MAX_ANSWER_BYTES,
      headers: { ...keyHeaders(this.#options.key), ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body }),
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS,
      signal,
    });
  }

  get #fetch(): typeof globalThis.fetch {
    return this.#options.fetch ?? globalThis.fetch;
  }
}
