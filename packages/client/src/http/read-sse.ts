// Reads Server-Sent Events (WHATWG HTML, 9.2) from the body of a fetch, since EventSource cannot send an API key.
import { createParser } from 'eventsource-parser';

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
  let items: (SseItem | SsePosition)[] = [];
  let lastEventId = '';
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ event: name = 'message', data, id }) => {
      // The parser counts only what it buffers.
      if (data.length > maxEventChars) throw tooLong();
      // An id is reported before its event, and a position that precedes the event would skip it.
      if (id !== undefined && items.at(-1)?.kind === 'position') items.pop();
      items.push({ kind: 'event', name, data, lastEventId });
    },
    onId: (id) => {
      if (id === lastEventId) return;
      lastEventId = id;
      items.push({ kind: 'position', lastEventId });
    },
    onRetry: (retryMs) => items.push({ kind: 'retry', retryMs }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLong();
    },
  });
  try {
    for (;;) {
      const { done, value } = await withinMs(reader.read(), silentMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const complete = items;
      items = [];
      yield* complete;
    }
  } finally {
    // The body may have failed already.
    reader.cancel().catch(() => {});
  }
}

const tooLong = () => new BrokenStreamError('an event is too long');

async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new BrokenStreamError(`no data received for ${ms / 1_000} s`)), ms);
  try {
    return await Promise.race([promise, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}
