// Live subscribers of the public stream: one encoding of each event for all of them; replay, cut over, go live.

import { formatSse, formatSsePlace, type SseClient } from '@strata/http';
import { isWanted, type StreamEvent, type StreamFilter, type StreamTable } from '@strata/store';

export interface HubOptions {
  /** Events kept in memory for those who come back soon. */
  readonly recent?: number;
  /** Called when events were told, before subscribers get them. */
  readonly onTold?: () => void;
}

const RECENT = 2_000;
const REPLAY_AT_ONCE = 500;

interface Encoded {
  readonly event: StreamEvent;
  readonly bytes: Buffer;
}

interface Subscriber {
  readonly client: SseClient;
  readonly filter: StreamFilter;
}

export class StreamHub {
  readonly #table: StreamTable;
  readonly #recent: number;
  #ring: Encoded[] = [];
  /** Everything up to this number has been handed to every live subscriber. */
  #seq = 0;
  readonly #live = new Set<Subscriber>();
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  readonly #onTold: () => void;

  private constructor(table: StreamTable, { recent = RECENT, onTold = () => {} }: HubOptions) {
    this.#table = table;
    this.#recent = recent;
    this.#onTold = onTold;
  }

  static async open(table: StreamTable, options: HubOptions = {}): Promise<StreamHub> {
    const hub = new StreamHub(table, options);
    hub.#seq = (await table.latest())?.seq ?? (await table.prunedThrough());
    return hub;
  }

  get subscribers(): number {
    return this.#live.size;
  }

  /** Number of the newest event told. */
  get latestSeq(): number {
    return this.#seq;
  }

  /**
   * Hands everybody what any process has told before this call; in order, without a gap, since it is read in the order in which it
   * became durable. One reader at a time, since two would both hand out what they read; whoever comes meanwhile shares the next round.
   */
  catchUp(): Promise<void> {
    if (!this.#reading) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
      return this.#reading;
    }
    const again = () => {
      this.#next = undefined;
      return this.catchUp();
    };
    this.#next ??= this.#reading.then(again, again);
    return this.#next;
  }

  async #read(): Promise<void> {
    for (;;) {
      const events = await this.#table.since(this.#seq, REPLAY_AT_ONCE);
      if (events.length > 0) this.#onTold();
      this.#tell(events);
      if (events.length < REPLAY_AT_ONCE) return;
    }
  }

  #tell(events: readonly StreamEvent[]): void {
    for (const event of events) {
      const encoded = encode(event);
      this.#ring.push(encoded);
      this.#seq = event.seq;
      for (const { client, filter } of this.#live) if (isWanted(event, filter)) client.write(encoded.bytes);
    }
    if (this.#ring.length > this.#recent * 2) this.#ring = this.#ring.slice(-this.#recent);
  }

  /**
   * Serves one client until it leaves: from the event after `Last-Event-ID` on, or from now. An id that the log no longer
   * reaches back to, or never gave, is answered with `reset` first; the client has missed something. Whoever brings no id, or
   * one that is of no use, is told the place where it begins before any event: should the line break, it loses none.
   */
  async serve(client: SseClient, filter: StreamFilter): Promise<void> {
    let seq = await this.#startOf(client);
    while (!client.isClosed) {
      // Nothing is left to replay, and no step between this look and joining waits: no event can fall between.
      const end = this.#seq;
      if (seq >= end) return this.#join({ client, filter });
      const batch = await this.#between(seq, end);
      for (const { event, bytes } of batch) {
        if (isWanted(event, filter) && !client.write(bytes)) await client.drained();
        if (client.isClosed) return;
      }
      seq = batch.at(-1)?.event.seq ?? end;
    }
  }

  /**
   * Some of the events after `seq` up to `end`: from memory when they are there, else from the log. The log may hold more, which other
   * processes wrote: a client that has joined gets those when this process reads them.
   */
  async #between(seq: number, end: number): Promise<readonly Encoded[]> {
    const oldest = this.#ring[0]?.event.seq ?? Number.POSITIVE_INFINITY;
    if (seq >= oldest - 1) {
      const from = this.#ring.findIndex(({ event }) => event.seq > seq);
      return from < 0 ? [] : this.#ring.slice(from, from + REPLAY_AT_ONCE);
    }
    const events = await this.#table.since(seq, REPLAY_AT_ONCE);
    return events.filter((event) => event.seq <= end).map(encode);
  }

  async #startOf(client: SseClient): Promise<number> {
    const { lastEventId } = client;
    if (lastEventId === undefined || lastEventId === '') {
      client.write(formatSsePlace(String(this.#seq)));
      return this.#seq;
    }
    const asked = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
    // Another process may have given it moments ago.
    if (asked > this.#seq) await this.catchUp();
    const pruned = await this.#table.prunedThrough();
    if (asked <= this.#seq && asked >= pruned) return asked;
    const why = asked < pruned ? 'the log no longer reaches back to this id' : 'this id was never given';
    // All that is kept is told again to who was here before; who brings a foreign id begins now.
    const start = asked < pruned ? pruned : this.#seq;
    const data = JSON.stringify({ reason: why, last_event_id: lastEventId.slice(0, 64) });
    client.write(formatSse({ id: String(start), event: 'reset', data }));
    return start;
  }

  #join(subscriber: Subscriber): void {
    if (subscriber.client.isClosed) return;
    this.#live.add(subscriber);
    subscriber.client.onClose(() => this.#live.delete(subscriber));
  }
}

function encode(event: StreamEvent): Encoded {
  return { event, bytes: Buffer.from(formatSse({ id: String(event.seq), event: event.type, data: event.body })) };
}
