// One HTTP exchange with an upstream: timeouts, and no leaked sockets. Uses node:http instead of fetch: no web stream
// for each of thousands of streams, our own timeouts (fetch gives up after 300 s of prefill whatever we set), `destroy`
// closes the connection at once, and redirects are not followed silently.
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { EngineError } from '../engine.ts';
import { EventReader, type StreamEvent } from './events.ts';

interface ExchangeOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly agent: http.Agent;
  readonly connectMs: number;
  /** From the connection to the response headers. */
  readonly answerMs: number;
  readonly signal: AbortSignal;
}

export interface Opened {
  readonly response: IncomingMessage;
  /** When the request was sent, on the monotonic clock. */
  readonly sentAt: number;
}

type Exchanged =
  | ({ readonly kind: 'opened' } & Opened)
  /** No response; `isStale`: on an idle keep-alive connection, which the server may close at any time. */
  | { readonly kind: 'unreachable'; readonly error: EngineError; readonly isStale: boolean };

/**
 * Rejects with the signal's reason, or with EngineError `upstream-failed` if the server received the request but does
 * not respond.
 */
export function exchange(options: ExchangeOptions): Promise<Exchanged> {
  const { url, body, agent, connectMs, answerMs, signal } = options;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  const module = url.protocol === 'https:' ? https : http;
  const request = module.request(url, { method: body === undefined ? 'GET' : 'POST', agent, headers: options.headers });
  let response: IncomingMessage | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sentAt = performance.now();
  const giveUpAfter = (ms: number, give: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(give, ms);
  };
  const connected = () => {
    sentAt = performance.now();
    giveUpAfter(answerMs, () => request.destroy(stalled(answerMs)));
  };
  const abort = () => (response ?? request).destroy();
  signal.addEventListener('abort', abort, { once: true });

  request.once('socket', (socket) => {
    if (request.reusedSocket) return connected();
    giveUpAfter(connectMs, () => request.destroy(new Error(`no connection within ${connectMs} ms`)));
    socket.once(module === https ? 'secureConnect' : 'connect', connected);
  });
  request.once('response', (opened) => {
    clearTimeout(timer);
    response = opened;
    resolve({ kind: 'opened', response, sentAt });
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (signal.aborted) reject(signal.reason);
    else if (error instanceof EngineError) reject(error);
    else if (error.code?.startsWith('HPE_')) reject(failed('does not speak HTTP', error));
    else resolve({ kind: 'unreachable', error: unreachable(error), isStale: request.reusedSocket });
  });
  request.once('close', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  });
  request.end(body);
  return promise;
}

interface WaitOptions {
  /** From the request to the first event; later, to the next event while only comments arrive. */
  readonly firstMs: number;
  /** Silence within the answer. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/**
 * The events of an answer. The wait for the server is bounded, the consumer's time is not. Releases the connection at
 * the end.
 */
export async function* streamEvents(
  { response, sentAt }: Opened,
  { firstMs, idleMs, signal }: WaitOptions,
): AsyncGenerator<StreamEvent> {
  const reader = new EventReader();
  const chunks = response.iterator({ destroyOnReturn: false });
  let leftMs = firstMs - (performance.now() - sentAt);
  let hasBegun = false;
  let isFinished = false;
  try {
    while (!isFinished) {
      const from = performance.now();
      const { value, done } = await within(response, chunks.next(), hasBegun ? Math.min(idleMs, leftMs) : leftMs);
      leftMs -= performance.now() - from;
      const events = done ? reader.end() : reader.push(value as Uint8Array);
      isFinished = Boolean(done);
      for (const event of events) {
        signal.throwIfAborted();
        leftMs = firstMs;
        hasBegun = true;
        isFinished ||= event.data.startsWith('[DONE]');
        yield event;
      }
    }
  } catch (error) {
    isFinished = false;
    throw asFailure(error, signal);
  } finally {
    await chunks.return?.().catch(() => {});
    if (isFinished) drain(response);
    else response.destroy();
  }
}

/** The complete body as text; rejects above `maxBytes`. */
export async function readText(
  response: IncomingMessage,
  { maxBytes, idleMs, signal }: { readonly maxBytes: number; readonly idleMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  const chunks = response.iterator();
  try {
    for (;;) {
      const { value, done } = await within(response, chunks.next(), idleMs);
      if (done) return Buffer.concat(parts).toString('utf8');
      parts.push(value as Uint8Array);
      sizeBytes += (value as Uint8Array).length;
      if (sizeBytes > maxBytes) throw failed(`sent more than ${maxBytes} bytes`);
    }
  } catch (error) {
    throw asFailure(error, signal);
  } finally {
    if (!response.complete) response.destroy();
  }
}

/** How long a server that sent everything may take to end its response, so that the connection can be reused. */
const CLOSE_MS = 1_000;

/** Reads and discards the remainder of a response, so that its connection can be reused. */
export function drain(response: IncomingMessage): void {
  const cut = setTimeout(() => response.destroy(), CLOSE_MS).unref();
  response.once('close', () => clearTimeout(cut));
  response.on('error', () => {});
  response.resume();
}

async function within<T>(response: IncomingMessage, next: Promise<T>, ms: number): Promise<T> {
  const timer = setTimeout(() => response.destroy(stalled(ms)), ms);
  try {
    return await next;
  } finally {
    clearTimeout(timer);
  }
}

function asFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof EngineError) return error;
  return failed('closed the connection in the middle of an answer', error);
}

function unreachable(error: NodeJS.ErrnoException): EngineError {
  return failed(`is unreachable (${error.code ?? error.message})`, error);
}

function stalled(ms: number): EngineError {
  return failed(`sent nothing for ${Math.round(ms)} ms`);
}

function failed(what: string, cause?: unknown): EngineError {
  return new EngineError('upstream-failed', `the upstream ${what}`, cause === undefined ? undefined : { cause });
}
