// A queue of events between one writer and one reader. It is unbounded: limits are enforced by the writer.

export interface EventQueueDeps<Event> {
  /** Called for each event when its reader requests the next one. */
  readonly onTaken: (event: Event) => void;
  /** Called when the reader stops before the end. */
  readonly onLeft: () => void;
}

/** One reader that waits for one event at a time. Unlike a generator, it can be left while it waits. */
export class EventQueue<Event> implements AsyncIterableIterator<Event> {
  readonly #deps: EventQueueDeps<Event>;
  #events: Event[] = [];
  #last: Event | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Event, undefined>> | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(deps: EventQueueDeps<Event>) {
    this.#deps = deps;
  }

  push(event: Event): void {
    if (this.#end) return;
    if (!this.#reader) {
      this.#events.push(event);
      return;
    }
    this.#last = event;
    this.#settle((reader) => reader.resolve({ done: false, value: event }));
  }

  end(): void {
    this.#finish({});
  }

  /** Events pushed before are read first. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  clear(): void {
    this.#events = [];
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    if (this.#last) this.#deps.onTaken(this.#last);
    this.#last = this.#events.shift();
    if (this.#last) return Promise.resolve({ done: false, value: this.#last });
    this.#reader = Promise.withResolvers();
    const { promise } = this.#reader;
    if (this.#end) this.#deliverEnd(this.#end);
    return promise;
  }

  async return(): Promise<IteratorResult<Event, undefined>> {
    this.clear();
    this.#last = undefined;
    if (!this.#end) {
      this.end();
      this.#deps.onLeft();
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#deliverEnd(end);
  }

  /** An error is delivered once; afterwards the queue is at its end. */
  #deliverEnd(end: { readonly error?: unknown }): void {
    this.#settle((reader) => {
      if (!('error' in end)) return reader.resolve({ done: true, value: undefined });
      this.#end = {};
      reader.reject(end.error);
    });
  }

  #settle(deliver: (reader: PromiseWithResolvers<IteratorResult<Event, undefined>>) => void): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) deliver(reader);
  }
}
