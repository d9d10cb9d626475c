// Reads Server-Sent Events (WHATWG HTML, 9.2) from the body of a fetch: EventSource can send no key.

/** One event that is whole, or a wish for how long to wait before coming back. */
export type SseItem =
  | { readonly kind: 'event'; readonly name: string; readonly data: string; readonly lastEventId: string }
  | { readonly kind: 'retry'; readonly retryMs: number };

/** An id without an event: a place in the stream to come back to. */
export interface SsePlace {
  readonly kind: 'place';
  readonly lastEventId: string;
}

/** The line is of no use any more: silent for too long, or with an event that does not end. */
export class BrokenStreamError extends Error {
  override readonly name = 'BrokenStreamError';
}

export interface ReadSseOptions {
  /** Without a byte for so long the line counts as dead; heartbeats are bytes. */
  readonly silentMs: number;
  /** The longest event that is read. */
  readonly maxEventChars?: number;
}

const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** Events of a body as they come; ends when the body does. What is cut off in the middle is left out. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  options: ReadSseOptions,
): AsyncGenerator<SseItem, void, undefined> {
  for await (const item of readSseWithPlaces(body, options)) if (item.kind !== 'place') yield item;
}

/** The same, and the places that stand between events. */
export async function* readSseWithPlaces(
  body: ReadableStream<Uint8Array>,
  { silentMs, maxEventChars = MAX_EVENT_CHARS }: ReadSseOptions,
): AsyncGenerator<SseItem | SsePlace, void, undefined> {
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
    // The body may be broken already; either way nobody reads on.
    reader.cancel().catch(() => {});
  }
}

async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new BrokenStreamError(`nothing came for ${ms / 1_000} s`)), ms);
  try {
    return await Promise.race([promise, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

class SseParser {
  readonly #maxEventChars: number;
  /** The beginning of a line whose end has not come. */
  #parts: string[] = [];
  #chars = 0;
  #endedWithCr = false;
  #data: string[] = [];
  #name = '';
  #idSeen = '';
  #lastEventId = '';

  constructor(maxEventChars: number) {
    this.#maxEventChars = maxEventChars;
  }

  *push(text: string): Generator<SseItem | SsePlace, void, undefined> {
    if (text === '') return;
    const lineEnd = /\r\n|\r|\n/g;
    // The two halves of a line end may come apart.
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
    if (this.#chars > this.#maxEventChars) throw new BrokenStreamError('an event does not end');
  }

  #dispatch(): SseItem | SsePlace | undefined {
    const data = this.#data;
    const name = this.#name === '' ? 'message' : this.#name;
    this.#data = [];
    this.#name = '';
    this.#chars = 0;
    const isElsewhere = this.#lastEventId !== this.#idSeen;
    this.#lastEventId = this.#idSeen;
    if (data.length === 0) return isElsewhere ? { kind: 'place', lastEventId: this.#lastEventId } : undefined;
    return { kind: 'event', name, data: data.join('\n'), lastEventId: this.#lastEventId };
  }

  #field(line: string): SseItem | undefined {
    const colon = line.indexOf(':');
    if (colon === 0) {
      // A comment: heartbeats would add up otherwise.
      this.#chars -= line.length;
      return undefined;
    }
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#name = value;
    else if (name === 'id' && !value.includes('\0')) this.#idSeen = value;
    else if (name === 'retry' && /^\d+$/.test(value)) return { kind: 'retry', retryMs: Number(value) };
    return undefined;
  }
}
