// Live subscribers of the public stream: replay from the log, then live; each event is encoded once for all of them.

import { formatSse, formatSseId, type SseClient } from '@strata/http';
import type { EventBus } from '../events.ts';
import { SharedRun } from '../shared-run.ts';
import { isWanted, type StreamEvent, type StreamFilter, type StreamTable } from '../store/index.ts';

export interface HubDeps {
  readonly table: StreamTable;
  readonly events: EventBus;
}

export interface HubOptions {
  /** Events kept in memory for clients that reconnect. */
  readonly recent?: number;
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
  readonly #events: EventBus;
  readonly #recent: number;
  #ring: Encoded[] = [];
  /** Every live subscriber has got everything up to this number. */
  #seq = 0;
  readonly #live = new Set<Subscriber>();
  readonly #reads = new SharedRun(() => this.#read());

  private constructor({ table, events }: HubDeps, { recent = RECENT }: HubOptions) {
    this.#table = table;
    this.#events = events;
    this.#recent = recent;
  }

  static async open(deps: HubDeps, options: HubOptions = {}): Promise<StreamHub> {
    const { table } = deps;
    const hub = new StreamHub(deps, options);
    hub.#seq = (await table.latest())?.seq ?? (await table.prunedThrough());
    return hub;
  }

  get subscribers(): number {
    return this.#live.size;
  }

  /** Number of the newest event sent. */
  get latestSeq(): number {
    return this.#seq;
  }

  /**
   * Sends all subscribers the events that any process published before this call, in order and without gaps, since they are read in
   * the order of their commits. Only one reader runs, since two would duplicate events; calls during a run share the next one.
   */
  catchUp(): Promise<void> {
    return this.#reads.start();
  }

  async #read(): Promise<void> {
    for (;;) {
      const events = await this.#table.since(this.#seq, REPLAY_AT_ONCE);
      if (events.length > 0) this.#events.publish('stream-read');
      this.#send(events);
      if (events.length < REPLAY_AT_ONCE) return;
    }
  }

  #send(events: readonly StreamEvent[]): void {
    for (const event of events) {
      const encoded = encode(event);
      this.#ring.push(encoded);
      this.#seq = event.seq;
      for (const { client, filter } of this.#live) if (isWanted(event, filter)) client.write(encoded.bytes);
    }
    if (this.#ring.length > this.#recent * 2) this.#ring = this.#ring.slice(-this.#recent);
  }

  /**
   * Serves one client until it disconnects: from the event after `Last-Event-ID`, or from now. An id that was pruned or never existed
   * is answered with `reset` first, because the client missed events. A client without a usable id first gets its start position, so
   * that it can resume after a disconnect.
   */
  async serve(client: SseClient, filter: StreamFilter): Promise<void> {
    let seq = await this.#startOf(client);
    while (!client.isClosed) {
      // No await between this check and the join: no event can be lost in between.
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
   * Some events after `seq` up to `end`: from memory if possible, else from the log. The log may contain later events of other
   * processes, which a joined client gets when this process reads them.
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
      client.write(formatSseId(String(this.#seq)));
      return this.#seq;
    }
    const asked = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
    // Another process may have published it just now.
    if (asked > this.#seq) await this.catchUp();
    const pruned = await this.#table.prunedThrough();
    if (asked <= this.#seq && asked >= pruned) return asked;
    const why = asked < pruned ? 'the log no longer reaches back to this id' : 'this id does not exist';
    // After pruning, everything that is kept is repeated; a foreign id begins now.
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
