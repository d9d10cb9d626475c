import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLogger } from '@strata/http';
import { EventBus } from '../events.ts';
import { openStore, type Store, type StreamTable } from '../store/index.ts';
import { StreamHub } from './stream-hub.ts';

const events = new EventBus(createLogger({ level: 'silent' }));
const openHub = (table: StreamTable, options = {}) => StreamHub.open({ table, events }, options);

/** A client that takes what it is sent only when asked to, and records how much was waiting at most. */
function slowClient(lastEventId?: string) {
  let waiting = 0;
  const client = {
    ...{ lastEventId, received: [] as number[], isClosed: false, maxWaiting: 0 },
    get bufferedBytes() {
      return waiting;
    },
    write(chunk: Uint8Array | string): boolean {
      const id = /^id: (\d+)$/m.exec(chunk.toString())?.[1];
      if (id) client.received.push(Number(id));
      waiting += chunk.length;
      client.maxWaiting = Math.max(client.maxWaiting, waiting);
      return waiting < 16_384;
    },
    async drained() {
      await setImmediate();
      waiting = 0;
    },
    close() {
      client.isClosed = true;
    },
    onClose: () => {},
  };
  return client;
}

async function openBegun(): Promise<Store> {
  const store = await openStore('sqlite::memory:');
  await store.stream.begin(0, 0);
  return store;
}

let us = 1;
async function publish(table: StreamTable, hub: StreamHub, count: number): Promise<void> {
  const cursor = (await table.cursor()) ?? 0;
  const event = { type: 'migration', domain: 'a.com', providers: [], category: 'dns', body: 'x'.repeat(500) };
  const events = Array.from({ length: count }, (_, i) => ({ ...event, publishedUs: us + i }));
  us += count;
  await table.append(events, { from: cursor, to: cursor + 1 });
  await hub.catchUp();
}

it('the hub of the stream replays thousands from the log and from memory to a slow client, in order, without a flood, then goes live', async () => {
  await using store = await openBegun();
  const { stream } = store;
  const hub = await openHub(stream, { recent: 300 });
  await publish(stream, hub, 3_000);
  for (let i = 0; i < 5; i += 1) await publish(stream, hub, 100);
  const client = slowClient('1');
  const served = hub.serve(client, {});
  // More comes while it is being served.
  for (let i = 0; i < 10; i += 1) {
    await publish(stream, hub, 20);
    await setImmediate();
  }
  await served;
  await publish(stream, hub, 1);
  const expected = Array.from({ length: hub.latestSeq - 1 }, (_, i) => i + 2);
  assert.deepEqual(client.received, expected);
  assert.ok(client.maxWaiting < 32_768, `${client.maxWaiting} bytes were waiting at once`);
  assert.equal(hub.subscribers, 1);
});

it('the hub of the stream takes a client on from an id that another process gave moments ago, and hands out each event once', async () => {
  await using store = await openBegun();
  const [other, hub] = [await openHub(store.stream), await openHub(store.stream)];
  const before = slowClient();
  await hub.serve(before, {});
  await publish(store.stream, other, 5);
  assert.deepEqual([other.latestSeq, hub.latestSeq], [5, 0], 'it has not read yet');
  const client = slowClient('4');
  await hub.serve(client, {});
  await Promise.all([hub.catchUp(), hub.catchUp(), hub.catchUp()]);
  await publish(store.stream, other, 1);
  await Promise.all([hub.catchUp(), hub.catchUp()]);
  assert.deepEqual(client.received, [5, 6]);
  assert.deepEqual(before.received, [0, 1, 2, 3, 4, 5, 6], 'its position first, then all');
});

it('the hub of the stream lets a client that leaves during the replay go', async () => {
  await using store = await openBegun();
  const hub = await openHub(store.stream, { recent: 10 });
  await publish(store.stream, hub, 2_000);
  const client = slowClient('0');
  const served = hub.serve(client, {});
  await setImmediate();
  client.close();
  await served;
  assert.ok(client.received.length < 2_000);
  assert.equal(hub.subscribers, 0);
});

it('the hub of the stream sends an event once to a client that comes while another process is ahead of this one', async () => {
  await using store = await openBegun();
  const { stream } = store;
  const other = await openHub(stream);
  await publish(stream, other, 2);
  const hub = await openHub(stream);
  await publish(stream, other, 1);
  const client = slowClient('1');
  await hub.serve(client, {});
  await hub.catchUp();
  assert.deepEqual(client.received, [2, 3]);
});
