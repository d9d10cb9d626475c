import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BoundedDatastore } from './bounded-datastore.ts';

type Key = Parameters<BoundedDatastore['get']>[0];

/** All that the store asks of a key is its name. */
const key = (name: string) => ({ toString: () => name }) as Key;

const names = (store: BoundedDatastore, prefix = '') => [...store.queryKeys({ prefix })].map(String);

describe('bounded datastore', () => {
  it('forgets what was used least recently, of the same kind', () => {
    const store = new BoundedDatastore({ most: 2, mostValueBytes: 8 });
    store.put(key('/peers/me'), Uint8Array.of(0));
    store.put(key('/dht/a'), Uint8Array.of(1));
    store.put(key('/dht/b'), Uint8Array.of(2));
    assert.deepEqual(store.get(key('/dht/a')), Uint8Array.of(1));
    store.put(key('/dht/c'), Uint8Array.of(3));
    assert.deepEqual(names(store), ['/peers/me', '/dht/a', '/dht/c']);
    assert.equal(store.has(key('/dht/b')), false);
    assert.throws(() => store.get(key('/dht/b')), { name: 'NotFoundError' });
  });

  it('refuses a value that is too long', () => {
    const store = new BoundedDatastore({ most: 2, mostValueBytes: 2 });
    assert.throws(() => store.put(key('/a'), new Uint8Array(3)));
    assert.deepEqual(names(store), []);
  });

  it('answers queries by prefix, filter, order, offset and limit', () => {
    const store = new BoundedDatastore({ most: 10, mostValueBytes: 8 });
    for (const name of ['/x/1', '/x/3', '/x/2', '/y/1']) store.put(key(name), Buffer.from(name));
    const byName = (a: { key: Key }, b: { key: Key }) => (a.key.toString() < b.key.toString() ? -1 : 1);
    const query = { prefix: '/x', filters: [], orders: [byName], offset: 1, limit: 1 };
    assert.deepEqual(
      [...store.query(query)].map((pair) => pair.key.toString()),
      ['/x/2'],
    );
    assert.deepEqual(
      [...store.query({ filters: [({ value }: { value: Uint8Array }) => Buffer.from(value).toString() === '/y/1'] })]
        .length,
      1,
    );
  });

  it('does a batch all at once, and many one after the other', async () => {
    const store = new BoundedDatastore({ most: 10, mostValueBytes: 8 });
    const batch = store.batch();
    batch.put(key('/a'), Uint8Array.of(1));
    batch.delete(key('/b'));
    assert.deepEqual(names(store), []);
    await batch.commit();
    assert.deepEqual(names(store), ['/a']);
    await Array.fromAsync(store.putMany([{ key: key('/b'), value: Uint8Array.of(2) }]));
    const values = await Array.fromAsync(store.getMany([key('/a'), key('/b')]));
    assert.deepEqual(
      values.map(({ value }) => value[0]),
      [1, 2],
    );
    await Array.fromAsync(store.deleteMany([key('/a')]));
    assert.deepEqual(names(store), ['/b']);
  });
});
