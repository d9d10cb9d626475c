// Fetches with a limit on size and time: what a server sends is not trusted to end.

/** What came back, or in a phrase why nothing usable did; with a status where something did. */
export type Fetched =
  | { readonly ok: true; readonly content: Uint8Array; readonly headers: Headers; readonly status: number }
  | { readonly ok: false; readonly problem: string; readonly status?: number; readonly cause?: unknown };

export interface FetchBoundedOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly maxBytes: number;
  readonly headers?: Record<string, string>;
  /** `GET` by default. */
  readonly method?: 'GET' | 'POST';
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** No answer takes longer, on-demand scans included. */
const TIMEOUT_MS = 60_000;

/** Any HTTP status is an answer: problem bodies carry receipts too. Throws only when the caller's signal aborts. */
export async function fetchBounded(url: URL, options: FetchBoundedOptions): Promise<Fetched> {
  const { fetch, maxBytes, headers = {}, method = 'GET', timeoutMs = TIMEOUT_MS, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    // Following a redirect would carry the API key to another host, and would change whose keys are trusted.
    const redirect = 'error';
    const limits = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const response = await fetch(url, { method, headers, redirect, signal: limits });
    const { status } = response;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      const problem = `${url} is a stream without an end; each of its events has a receipt of its own`;
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

/** Node tells the reason in `cause`; a browser tells none. */
export function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'the request failed';
  if (error.name === 'TimeoutError') return `no complete response after ${timeoutMs / 1_000} s`;
  const { code, message } = (error.cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const known = REASONS[String(code)];
  if (known !== undefined) return known;
  if (message === 'unexpected redirect') return 'it redirects, which is not followed; give the address it leads to';
  if (/CERT|SIGNED|ALTNAME/.test(String(code))) return `its certificate is not trusted (${code})`;
  return 'no connection, or a redirect';
}

/** The whole body, or undefined when there is more of it than that. */
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
