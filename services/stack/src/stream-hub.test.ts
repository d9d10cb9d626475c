import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SseClient } from '@strata/http';
import { openStore, type StreamEvent, type StreamTable } from '@strata/store';
import { StreamHub } from './stream-hub.ts';

/** A client that takes what it is sent only when asked to, and tells when more than its share is waiting. */
class SlowClient implements SseClient {
  readonly lastEventId: string | undefined;
  readonly received: number[] = [];
  isClosed = false;
  mostWaiting = 0;
  #waiting = 0;

  constructor(lastEventId?: string) {
    this.lastEventId = lastEventId;
  }

  get bufferedBytes(): number {
    return this.#waiting;
  }

  write(chunk: Uint8Array | string): boolean {
    const id = /^id: (\d+)$/m.exec(chunk.toString())?.[1];
    if (id) this.received.push(Number(id));
    this.#waiting += chunk.length;
    this.mostWaiting = Math.max(this.mostWaiting, this.#waiting);
    return this.#waiting < 16_384;
  }

  async drained(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#waiting = 0;
  }

  close(): void {
    this.isClosed = true;
  }

  onClose(): void {}
}

let us = 0;
async function tell(table: StreamTable, hub: StreamHub, count: number): Promise<void> {
  const cursor = (await table.cursor()) ?? 0;
  const events: Omit<StreamEvent, 'seq'>[] = Array.from({ length: count }, () => {
    us += 1;
    return {
      publishedUs: us,
      type: 'migration',
      domain: 'a.com',
      providers: [],
      category: 'dns',
      body: 'x'.repeat(500),
    };
  });
  await table.append(events, { from: cursor, to: cursor + 1 });
  await hub.catchUp();
}

describe('the hub of the stream', () => {
  it('replays thousands from the log and from memory to a slow client, in order, without a flood, then goes live', async () => {
    await using store = await openStore('sqlite::memory:');
    const { stream } = store;
    await stream.begin(0, 0);
    const hub = await StreamHub.open(stream, { recent: 300 });
    await tell(stream, hub, 3_000);
    for (let i = 0; i < 5; i += 1) await tell(stream, hub, 100);
    const client = new SlowClient('1');
    const served = hub.serve(client, {});
    // More comes while it is being served.
    for (let i = 0; i < 10; i += 1) {
      await tell(stream, hub, 20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await served;
    await tell(stream, hub, 1);
    const latest = hub.latestSeq;
    assert.deepEqual(
      client.received,
      Array.from({ length: latest - 1 }, (_, i) => i + 2),
    );
    assert.ok(client.mostWaiting < 32_768, `${client.mostWaiting} bytes were waiting at once`);
    assert.equal(hub.subscribers, 1);
  });

  it('takes a client on from an id that another process gave moments ago, and hands out each event once', async () => {
    await using store = await openStore('sqlite::memory:');
    await store.stream.begin(0, 0);
    const [other, hub] = [await StreamHub.open(store.stream), await StreamHub.open(store.stream)];
    const before = new SlowClient();
    await hub.serve(before, {});
    await tell(store.stream, other, 5);
    assert.deepEqual([other.latestSeq, hub.latestSeq], [5, 0], 'it has not looked yet');
    const client = new SlowClient('4');
    await hub.serve(client, {});
    await Promise.all([hub.catchUp(), hub.catchUp(), hub.catchUp()]);
    await tell(store.stream, other, 1);
    await Promise.all([hub.catchUp(), hub.catchUp()]);
    assert.deepEqual(client.received, [5, 6]);
    assert.deepEqual(before.received, [0, 1, 2, 3, 4, 5, 6], 'its place first, then all');
  });

  it('lets a client that leaves during the replay go', async () => {
    await using store = await openStore('sqlite::memory:');
    await store.stream.begin(0, 0);
    const hub = await StreamHub.open(store.stream, { recent: 10 });
    await tell(store.stream, hub, 2_000);
    const client = new SlowClient('0');
    const served = hub.serve(client, {});
    await new Promise((resolve) => setImmediate(resolve));
    client.close();
    await served;
    assert.ok(client.received.length < 2_000);
    assert.equal(hub.subscribers, 0);
  });

  it('sends an event once to a client that comes while another process is ahead of this one', async () => {
    await using store = await openStore('sqlite::memory:');
    const { stream } = store;
    await stream.begin(0, 0);
    const other = await StreamHub.open(stream);
    await tell(stream, other, 2);
    const hub = await StreamHub.open(stream);
    await tell(stream, other, 1);
    const client = new SlowClient('1');
    await hub.serve(client, {});
    await hub.catchUp();
    assert.deepEqual(client.received, [2, 3]);
  });
});
