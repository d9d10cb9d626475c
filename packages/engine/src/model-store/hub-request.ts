// One GET to a hub: redirects, the token that stays at home, silence that is not waited for, refusals in words.
import { ModelStoreError } from './error.ts';
import { PassingFailure } from './retry.ts';

export interface Hub {
  /** Http or https; nothing but origin and path. */
  readonly endpoint: URL;
  readonly token?: string | undefined;
  /** Longest silence of a server, before its headers and in its body. */
  readonly idleTimeoutMs: number;
}

export interface HubResponse extends AsyncDisposable {
  readonly statusCode: number;
  readonly headers: Headers;
  /** Rejects with PassingFailure when the connection breaks or falls silent. Once only. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface HubRequest {
  readonly url: URL;
  /** Asked before each hop, so that headers may depend on what was learned from the one before. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Hears the headers of each hop that the hub itself answered; true ends the journey there. */
  readonly onHubHeaders?: (headers: Headers) => boolean;
  /** What is asked for, for messages. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

const MAX_REDIRECTS = 8;
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
/** RFC 9110 §15: what another try may find otherwise. */
const passingStatuses: readonly number[] = [408, 425, 429];

/**
 * The answer, whose status is 2xx, or 416, or where `onHubHeaders` ended it. Rejects with PassingFailure for what may pass, an
 * abort included, and with ModelStoreError for what will not.
 */
export async function getFromHub(hub: Hub, request: HubRequest): Promise<HubResponse> {
  const watch = new SilenceWatch(hub.idleTimeoutMs, request.signal);
  let url = request.url;
  let isAtHome = true;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    // Once a redirect has led away, the token is not sent again, not even back at home.
    isAtHome &&= url.origin === hub.endpoint.origin;
    const response = await fetchOnce(url, { hub, request, watch, isAtHome });
    const isEnd = isAtHome && request.onHubHeaders?.(response.headers) === true;
    if (isEnd || response.ok || response.status === 416) return new Answer(response, watch, url);
    await discard(response);
    if (!redirectStatuses.includes(response.status)) {
      throw refusal(response, { hub, what: request.what, isAtHome, url });
    }
    url = nextHop(url, response.headers.get('location'));
  }
  throw new ModelStoreError('network', `${hub.endpoint.host} redirects in circles`);
}

interface Hop {
  readonly hub: Hub;
  readonly request: HubRequest;
  readonly watch: SilenceWatch;
  readonly isAtHome: boolean;
}

async function fetchOnce(url: URL, { hub, request, watch, isAtHome }: Hop): Promise<Response> {
  const token = isAtHome && hub.token ? { authorization: `Bearer ${hub.token}` } : {};
  try {
    return await watch.during((signal) =>
      fetch(url, {
        redirect: 'manual',
        signal,
        // Packed bytes could be neither counted nor resumed.
        headers: { 'user-agent': 'strata', 'accept-encoding': 'identity', ...request.headers(), ...token },
      }),
    );
  } catch (cause) {
    throw broken(cause, url);
  }
}

/** Where a redirect leads. Throws `network` for what is no web address, carries a password, or gives up encryption. */
export function nextHop(from: URL, location: string | null): URL {
  const to = location === null ? null : URL.parse(location, from);
  const isDowngrade = from.protocol === 'https:' && to?.protocol !== 'https:';
  if (!to || !/^https?:$/.test(to.protocol) || isDowngrade || to.username || to.password) {
    throw new ModelStoreError('network', `${from.host} redirects to where nothing is fetched from`);
  }
  return to;
}

class Answer implements HubResponse {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly #body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #watch: SilenceWatch;
  readonly #url: URL;

  constructor(response: Response, watch: SilenceWatch, url: URL) {
    this.statusCode = response.status;
    this.headers = response.headers;
    this.#body = response.body?.getReader();
    this.#watch = watch;
    this.#url = url;
  }

  async *chunks(): AsyncIterable<Uint8Array> {
    const body = this.#body;
    while (body) {
      // Only the server is timed, never whoever writes what it sent.
      const { value } = await this.#watch
        .during(() => body.read())
        .catch((cause) => {
          throw broken(cause, this.#url);
        });
      if (!value) return;
      yield value;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#body?.cancel().catch(() => {});
  }
}

/** Ends what takes too long, but counts only while somebody waits for the server. */
class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal;
  readonly #idleTimeoutMs: number;

  constructor(idleTimeoutMs: number, signal: AbortSignal | undefined) {
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
  }

  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const silent = () => this.#controller.abort(new Error(`nothing came for ${this.#idleTimeoutMs / 1000} s`));
    const timer = setTimeout(silent, this.#idleTimeoutMs);
    try {
      return await work(this.#signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

function broken(cause: unknown, { host }: URL): PassingFailure {
  const { message, cause: inner } = cause as Error & { cause?: Error & { code?: string } };
  const why = inner?.code ?? inner?.message ?? message;
  return new PassingFailure(`the connection to ${host} failed (${why})`, { cause });
}

interface Refused {
  readonly hub: Hub;
  readonly what: string;
  readonly isAtHome: boolean;
  readonly url: URL;
}

function refusal(response: Response, { hub, what, isAtHome, url }: Refused): Error {
  const { status, headers } = response;
  const said = `${url.host} answers ${status} for ${what}`;
  if (status >= 500 || passingStatuses.includes(status)) {
    return new PassingFailure(said, { afterMs: retryAfterMs(headers.get('retry-after')) });
  }
  // Addresses elsewhere are signed for a while only: the next try is led to a new one.
  if (!isAtHome) return new PassingFailure(said);
  // https://github.com/huggingface/huggingface_hub, utils/_http.py: why, in a word.
  const why = headers.get('x-error-code');
  if (status === 401 || status === 403) return new ModelStoreError('forbidden', forbidden(hub, { what, why }));
  if (status === 404) return new ModelStoreError('not-found', `${what} ${missing(why)} at ${url.host}`);
  return new ModelStoreError('network', said);
}

function forbidden(hub: Hub, { what, why }: { readonly what: string; readonly why: string | null }): string {
  const { host } = hub.endpoint;
  if (why === 'GatedRepo') {
    const given = hub.token ? ' (the one given is not let in)' : '';
    return `${what} is gated: accept its terms on its page at ${host}, and give a token of that account${given}`;
  }
  return hub.token
    ? `${host} does not let the given token read ${what}, or there is no such repository`
    : `${what} is private, gated or does not exist: give a token of ${host} that may read it`;
}

function missing(why: string | null): string {
  if (why === 'RepoNotFound') return 'is in a repository that does not exist, or is private,';
  if (why === 'RevisionNotFound') return 'is asked for in a revision that does not exist';
  return 'was not found';
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}
