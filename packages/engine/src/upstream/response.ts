// Reads the responses of an upstream: server-sent events and texts, within limits of time and size.
import type { IncomingMessage } from 'node:http';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { EngineError } from '../engine.ts';
import { failed } from './errors.ts';

export interface Opened {
  readonly response: IncomingMessage;
  /** When the request was sent, on the monotonic clock. */
  readonly sentAt: number;
}

export interface StreamEvent {
  /** Empty if the server sends none. */
  readonly type: string;
  readonly data: string;
}

const LIMITS = {
  // An event with twenty log-probabilities has 3,000 characters; one event may contain all arguments of a call.
  eventChars: 2 * 1024 * 1024,
  // A hundred thousand tokens with twenty log-probabilities each.
  bytes: 512 * 1024 * 1024,
  events: 1_000_000,
};
/** How long a server that sent everything may take to end its response, so that the connection can be reused. */
const CLOSE_MS = 1_000;

/** Accepts chunks split anywhere, also within a character. Throws EngineError `upstream-failed` above the limits. */
export class EventReader {
  readonly #limits: typeof LIMITS;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** An incomplete line: the parser discards one of an unknown field, which `error` is to it. */
  #line = '';
  #complete: StreamEvent[] = [];
  #bytes = 0;
  #events = 0;

  constructor(limits = LIMITS) {
    this.#limits = limits;
    this.#parser = createParser({
      maxBufferSize: limits.eventChars,
      onEvent: ({ event: type = '', data }) => this.#add({ type, data }),
      onError: ({ type, field, value = '' }) => {
        if (type === 'max-buffer-size-exceeded') throw this.#eventTooLong();
        // Older llama-server versions send errors in a field of this name.
        if (field === 'error') this.#add({ type: field, data: value });
      },
    });
  }

  /** Events that are now complete; comments are skipped. */
  push(bytes: Uint8Array): StreamEvent[] {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.bytes) throw failed(`sent more than ${this.#limits.bytes} bytes`);
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The stream ended: a missing final empty line is tolerated. */
  end(): StreamEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): StreamEvent[] {
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    if (end > 0) {
      this.#parser.feed(this.#line + text.slice(0, end));
      this.#line = '';
    }
    this.#line += text.slice(end);
    if (this.#line.length > this.#limits.eventChars) throw this.#eventTooLong();
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }

  #add(event: StreamEvent): void {
    this.#events += 1;
    if (this.#events > this.#limits.events) throw failed(`sent more than ${this.#limits.events} events`);
    this.#complete.push(event);
  }

  #eventTooLong(): EngineError {
    return failed(`sent an event of more than ${this.#limits.eventChars} characters`);
  }
}

export interface WaitOptions {
  /** From the request to the first event; later, to the next event while only comments arrive. */
  readonly firstMs: number;
  /** Silence within the answer. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/**
 * The events of an answer, as many at a time as arrive together. The wait for the server is bounded, the consumer's time
 * is not. Releases the connection at the end.
 */
export async function* streamEvents(
  { response, sentAt }: Opened,
  { firstMs, idleMs, signal }: WaitOptions,
): AsyncGenerator<readonly StreamEvent[]> {
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
      isFinished = Boolean(done) || events.some(isDone);
      if (events.length === 0) continue;
      signal.throwIfAborted();
      leftMs = firstMs;
      hasBegun = true;
      yield events;
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

/** Whether the event is the last one: what follows is not read. */
export const isDone = ({ data }: StreamEvent): boolean => data.startsWith('[DONE]');

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

export const stalled = (ms: number): EngineError =>
  failed(`sent nothing for ${Math.round(ms)} ms`, undefined, 'timeout');

function asFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof EngineError ? error : failed('closed the connection in the middle of an answer', error);
}
