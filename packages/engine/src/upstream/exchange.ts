// One HTTP request to an upstream and its answer: when to give up waiting, and no socket left behind.
// node:http rather than fetch: no web stream around each of thousands of streams, time-outs that are ours (fetch gives up after
// 300 s of prefill whatever we say), `destroy` closes the connection at once, and no redirect is followed unseen.
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { EngineError } from '../engine.ts';
import { EventReader, type StreamEvent } from './events.ts';

export interface ExchangeOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly agent: http.Agent;
  readonly connectMs: number;
  /** From a connection to the head of the answer. */
  readonly answerMs: number;
  readonly signal: AbortSignal;
}

export interface Opened {
  readonly response: IncomingMessage;
  /** When the request went out, on the monotonic clock. */
  readonly sentAt: number;
}

export type Exchanged =
  | ({ readonly kind: 'opened' } & Opened)
  /** Nothing was answered; `isStale`: on a connection that had idled, which its server may close at any time. */
  | { readonly kind: 'unreachable'; readonly error: EngineError; readonly isStale: boolean };

/** Rejects with the signal's reason, or with EngineError `upstream-failed` where the server has the request and is silent. */
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

export interface WaitOptions {
  /** To the first event, from when the request went out; later, to the next one while there are only comments. */
  readonly firstMs: number;
  /** Silence in the middle. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** The events of an answer. Waiting for the server is bounded; being slow to take them is not. Ends with the connection let go. */
export async function* streamEvents(
  { response, sentAt }: Opened,
  { firstMs, idleMs, signal }: WaitOptions,
): AsyncGenerator<StreamEvent> {
  const reader = new EventReader();
  const chunks = response.iterator({ destroyOnReturn: false });
  let leftMs = firstMs - (performance.now() - sentAt);
  let hasBegun = false;
  let isWhole = false;
  try {
    while (!isWhole) {
      const from = performance.now();
      const { value, done } = await within(response, chunks.next(), hasBegun ? Math.min(idleMs, leftMs) : leftMs);
      leftMs -= performance.now() - from;
      const events = done ? reader.end() : reader.push(value as Uint8Array);
      isWhole = Boolean(done);
      for (const event of events) {
        signal.throwIfAborted();
        leftMs = firstMs;
        hasBegun = true;
        isWhole ||= event.data.startsWith('[DONE]');
        yield event;
      }
    }
  } catch (error) {
    isWhole = false;
    throw asFailure(error, signal);
  } finally {
    await chunks.return?.().catch(() => {});
    if (isWhole) letGo(response);
    else response.destroy();
  }
}

/** A whole body as text; more than `maxBytes` are refused. */
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

/** How long a server that said everything may take to close its answer, so that the connection can be used again. */
const CLOSE_MS = 1_000;

/** Reads what is left of an answer that is not needed, so that its connection can be used again. */
export function letGo(response: IncomingMessage): void {
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
  return failed('broke off in the middle of an answer', error);
}

function unreachable(error: NodeJS.ErrnoException): EngineError {
  return failed(`cannot be reached (${error.code ?? error.message})`, error);
}

function stalled(ms: number): EngineError {
  return failed(`said nothing for ${Math.round(ms)} ms`);
}

function failed(what: string, cause?: unknown): EngineError {
  return new EngineError('upstream-failed', `the upstream ${what}`, cause === undefined ? undefined : { cause });
}
