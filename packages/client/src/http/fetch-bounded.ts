// Fetches with limits on size and time.

/** The response, or a phrase with the problem; with a status where there was a response. */
export type Fetched =
  | { readonly ok: true; readonly content: Uint8Array; readonly headers: Headers; readonly status: number }
  | { readonly ok: false; readonly problem: string; readonly status?: number; readonly cause?: unknown };

export interface FetchBoundedOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly maxBytes: number;
  readonly headers?: Record<string, string>;
  /** `GET` by default. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Of a POST or PUT. */
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** No answer takes longer, including on-demand scans. */
const TIMEOUT_MS = 60_000;

/** Any HTTP status is an answer, since problem bodies have receipts too. Rejects only when the caller's signal aborts. */
export async function fetchBounded(url: URL, options: FetchBoundedOptions): Promise<Fetched> {
  const { fetch, maxBytes, headers = {}, method = 'GET', body, timeoutMs = TIMEOUT_MS, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    // A redirect would send the API key to another host, and change whose signing keys are trusted.
    const redirect = 'error';
    const limits = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const response = await fetch(url, {
      method,
      headers,
      redirect,
      signal: limits,
      ...(body !== undefined && { body }),
    });
    const { status } = response;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      const problem = `${url} is an endless stream; each of its events has its own receipt`;
      return { ok: false, problem, status };
    }
    const content = await readBounded(response, maxBytes);
    if (!content) return { ok: false, problem: `${url} sends more than ${maxBytes} bytes`, status };
    return { ok: true, content, headers: response.headers, status };
  } catch (error) {
    signal?.throwIfAborted();
    return { ok: false, problem: `${url} cannot be reached: ${reasonOf(error, timeoutMs)}`, cause: error };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'DNS does not answer',
  ECONNRESET: 'the connection broke off',
  UND_ERR_SOCKET: 'the connection broke off',
  ENETUNREACH: 'the network is unreachable',
  EHOSTUNREACH: 'the host is unreachable',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; is it http:// rather than https://?',
};

/** Node has the reason in `cause`; a browser gives none. */
export function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'the request failed';
  if (error.name === 'TimeoutError') return `no complete response after ${timeoutMs / 1_000} s`;
  const { code, message } = (error.cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const known = REASONS[String(code)];
  if (known !== undefined) return known;
  if (message === 'unexpected redirect') return 'it redirects, and redirects are not followed; use the target URL';
  if (/CERT|SIGNED|ALTNAME/.test(String(code))) return `its certificate is not trusted (${code})`;
  return 'no connection, or a redirect';
}

/** The body, or undefined where it is longer than `maxBytes`. */
export async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (response.body) {
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > maxBytes) {
        await reader.cancel();
        return undefined;
      }
      chunks.push(part.value);
    }
  }
  const content = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    content.set(chunk, at);
    at += chunk.length;
  }
  return content;
}
