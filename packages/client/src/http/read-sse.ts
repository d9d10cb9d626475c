// Reads Server-Sent Events (WHATWG HTML, 9.2) from the body of a fetch, since EventSource cannot send an API key.

/** A complete event, or the reconnection time that the server requests. */
export type SseItem =
  | { readonly kind: 'event'; readonly name: string; readonly data: string; readonly lastEventId: string }
  | { readonly kind: 'retry'; readonly retryMs: number };

/** An id without an event: a position in the stream to resume from. */
export interface SsePosition {
  readonly kind: 'position';
  readonly lastEventId: string;
}

/** The connection cannot be used any more: idle for too long, or with an event that is too long. */
export class BrokenStreamError extends Error {
  override readonly name = 'BrokenStreamError';
}

export interface ReadSseOptions {
  /** Time without a byte after which the connection is considered dead; heartbeats are bytes too. */
  readonly silentMs: number;
  /** Maximum length of an event. */
  readonly maxEventChars?: number;
}

const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** The events of a body as they arrive; ends with the body. An incomplete event at the end is discarded. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  options: ReadSseOptions,
): AsyncGenerator<SseItem, void, undefined> {
  for await (const item of readSseWithPositions(body, options)) if (item.kind !== 'position') yield item;
}

/** The same, with the positions between events. */
export async function* readSseWithPositions(
  body: ReadableStream<Uint8Array>,
  { silentMs, maxEventChars = MAX_EVENT_CHARS }: ReadSseOptions,
): AsyncGenerator<SseItem | SsePosition, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser(maxEventChars);
  try {
    for (;;) {
      const { done, value } = await withinMs(reader.read(), silentMs);
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // The body may have failed already.
    reader.cancel().catch(() => {});
  }
}

async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new BrokenStreamError(`no data received for ${ms / 1_000} s`)), ms);
  try {
    return await Promise.race([promise, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

class SseParser {
  readonly #maxEventChars: number;
  /** The pieces of an incomplete line. */
  #parts: string[] = [];
  #chars = 0;
  #endedWithCr = false;
  #data: string[] = [];
  #name = '';
  #pendingId = '';
  #lastEventId = '';

  constructor(maxEventChars: number) {
    this.#maxEventChars = maxEventChars;
  }

  *push(text: string): Generator<SseItem | SsePosition, void, undefined> {
    if (text === '') return;
    const lineEnd = /\r\n|\r|\n/g;
    // The two characters of a line end may arrive in different pieces.
    let from = this.#endedWithCr && text.startsWith('\n') ? 1 : 0;
    this.#endedWithCr = text.endsWith('\r');
    lineEnd.lastIndex = from;
    for (let end = lineEnd.exec(text); end; end = lineEnd.exec(text)) {
      this.#count(end.index - from);
      this.#parts.push(text.slice(from, end.index));
      const line = this.#parts.join('');
      this.#parts = [];
      from = lineEnd.lastIndex;
      const item = line === '' ? this.#dispatch() : this.#field(line);
      if (item) yield item;
    }
    this.#count(text.length - from);
    if (from < text.length) this.#parts.push(text.slice(from));
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars > this.#maxEventChars) throw new BrokenStreamError('an event is too long');
  }

  #dispatch(): SseItem | SsePosition | undefined {
    const data = this.#data;
    const name = this.#name === '' ? 'message' : this.#name;
    this.#data = [];
    this.#name = '';
    this.#chars = 0;
    const hasMoved = this.#lastEventId !== this.#pendingId;
    this.#lastEventId = this.#pendingId;
    if (data.length === 0) return hasMoved ? { kind: 'position', lastEventId: this.#lastEventId } : undefined;
    return { kind: 'event', name, data: data.join('\n'), lastEventId: this.#lastEventId };
  }

  #field(line: string): SseItem | undefined {
    const colon = line.indexOf(':');
    if (colon === 0) {
      // A comment. Heartbeats must not add up to a long event.
      this.#chars -= line.length;
      return undefined;
    }
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#name = value;
    else if (name === 'id' && !value.includes('\0')) this.#pendingId = value;
    else if (name === 'retry' && /^\d+$/.test(value)) return { kind: 'retry', retryMs: Number(value) };
    return undefined;
  }
}
