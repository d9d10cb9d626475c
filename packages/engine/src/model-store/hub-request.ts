// One GET request to a hub: redirects, token handling, idle timeout, and error messages.
import { retryAfterMs } from '../retry-after.ts';
import { ModelStoreError } from './error.ts';
import { TransientError } from './retry.ts';

export interface Hub {
  /** Http or https; nothing but origin and path. */
  readonly endpoint: URL;
  readonly token?: string | undefined;
  /** Idle timeout, before the headers and in the body. */
  readonly idleTimeoutMs: number;
}

export interface HubResponse extends AsyncDisposable {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Rejects with TransientError when the connection breaks or stalls. Can be consumed once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface HubRequest {
  readonly url: URL;
  /** Called before each hop, so that headers may depend on the previous response. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Called with the headers of each response of the hub itself. */
  readonly onHubHeaders?: (headers: Headers) => void;
  /** The requested item, for messages. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

const MAX_REDIRECTS = 8;
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
/** RFC 9110 §15: statuses that a retry may change. */
const transientStatuses: readonly number[] = [408, 425, 429];

/**
 * The response: its status is 2xx or 416. Rejects with TransientError for failures worth a retry, an abort included, and
 * with ModelStoreError for permanent ones.
 */
export async function getFromHub(hub: Hub, request: HubRequest): Promise<HubResponse> {
  const idle = idleLimit(hub.idleTimeoutMs, request.signal);
  let url = request.url;
  let isHubOrigin = true;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    // After a redirect to another origin, the token is never sent again, not even to the hub.
    isHubOrigin &&= url.origin === hub.endpoint.origin;
    const token = isHubOrigin && hub.token ? { authorization: `Bearer ${hub.token}` } : {};
    // Compressed bytes could be neither counted nor resumed.
    const headers = { 'user-agent': 'strata', 'accept-encoding': 'identity', ...request.headers(), ...token };
    const response = await idle(url, (signal) => fetch(url, { redirect: 'manual', signal, headers }));
    if (isHubOrigin) request.onHubHeaders?.(response.headers);
    if (response.ok || response.status === 416) return answerOf(response, url, idle);
    await response.body?.cancel().catch(() => {});
    if (!redirectStatuses.includes(response.status))
      throw refusal(response, { hub, what: request.what, isHubOrigin, url });
    url = nextHop(url, response.headers.get('location'));
  }
  throw new ModelStoreError('network', `${hub.endpoint.host} sends too many redirects`);
}

/**
 * Target of a redirect. Throws `network` if it is not http or https, has credentials, or downgrades from https to http.
 */
export function nextHop(from: URL, location: string | null): URL {
  const to = location === null ? null : URL.parse(location, from);
  const isDowngrade = from.protocol === 'https:' && to?.protocol !== 'https:';
  if (!to || !/^https?:$/.test(to.protocol) || isDowngrade || to.username || to.password) {
    throw new ModelStoreError('network', `${from.host} redirects to an address that is not allowed`);
  }
  return to;
}

function answerOf({ status, headers, body }: Response, url: URL, idle: IdleLimit): HubResponse {
  const reader = body?.getReader();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    while (reader) {
      // Times only the server, not the consumer of the chunks.
      const { value } = await idle(url, () => reader.read());
      if (!value) return;
      yield value;
    }
  }
  return {
    status,
    headers: Object.fromEntries(headers),
    chunks: chunks(),
    [Symbol.asyncDispose]: async () => void (await reader?.cancel().catch(() => {})),
  };
}

/** Waits for a server. Rejects with TransientError if it fails, or is silent for too long. */
type IdleLimit = <T>(server: URL, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

function idleLimit(ms: number, signal: AbortSignal | undefined): IdleLimit {
  const controller = new AbortController();
  const either = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
  return async ({ host }, work) => {
    const timer = setTimeout(() => controller.abort(new Error(`no data for ${ms / 1000} s`)), ms);
    try {
      return await work(either);
    } catch (cause) {
      const { message, cause: inner } = cause as Error & { cause?: Error & { code?: string } };
      const why = inner?.code ?? inner?.message ?? message;
      throw new TransientError(`the connection to ${host} failed (${why})`, { cause });
    } finally {
      clearTimeout(timer);
    }
  };
}

interface Refused {
  readonly hub: Hub;
  readonly what: string;
  readonly isHubOrigin: boolean;
  readonly url: URL;
}

function refusal(response: Response, { hub, what, isHubOrigin, url }: Refused): Error {
  const { status, headers } = response;
  const message = `${url.host} answers ${status} for ${what}`;
  if (status >= 500 || transientStatuses.includes(status)) {
    return new TransientError(message, { afterMs: retryAfterMs(headers.get('retry-after'), Date.now()) ?? 0 });
  }
  // Signed addresses expire: a retry gets a new one from the hub.
  if (!isHubOrigin) return new TransientError(message);
  // The reason, from https://github.com/huggingface/huggingface_hub, utils/_http.py.
  const why = headers.get('x-error-code');
  if (status === 401 || status === 403) return new ModelStoreError('forbidden', forbidden(hub, { what, why }));
  if (status === 404) return new ModelStoreError('not-found', `${url.host}: ${what} ${missing(why)}`);
  return new ModelStoreError('network', message);
}

function forbidden(hub: Hub, { what, why }: { readonly what: string; readonly why: string | null }): string {
  const { host } = hub.endpoint;
  if (why === 'GatedRepo') {
    const rejected = hub.token ? ' (the configured token has no access)' : '';
    return `${what} is gated: accept its terms on its page at ${host}, and configure a token of that account${rejected}`;
  }
  return hub.token
    ? `the configured token has no access to ${what} at ${host}, or the repository does not exist`
    : `${what} is private, gated or does not exist: configure a token for ${host} that has access`;
}

function missing(why: string | null): string {
  if (why === 'RepoNotFound') return 'was not found: its repository does not exist or is private';
  if (why === 'RevisionNotFound') return 'was not found: the revision does not exist';
  return 'was not found';
}
