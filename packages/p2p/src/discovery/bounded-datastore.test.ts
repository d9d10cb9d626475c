import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BoundedDatastore, type RecordBounds } from './bounded-datastore.ts';

/** A store of at most `max` records, without an effective limit for one key or one peer. */
const storeOf = (max: number, more: Partial<RecordBounds> = {}) =>
  new BoundedDatastore({ max, maxValueBytes: 8, maxProvidersPerKey: 100, maxKeysPerProvider: 100, ...more });

type Key = Parameters<BoundedDatastore['get']>[0];

const key = (name: string) => ({ toString: () => name }) as Key;

const names = async (store: BoundedDatastore, prefix = '') =>
  (await Array.fromAsync(store.queryKeys({ prefix }))).map(String);

it('a bounded datastore evicts the least recently used record of the same kind', async () => {
  const store = storeOf(2);
  const put = (name: string) => store.put(key(name), Buffer.from(name.slice(-2)));
  for (const name of ['/peers/me', '/dht/a', '/dht/b']) put(name);
  assert.equal(String(store.get(key('/dht/a'))), '/a');
  put('/dht/c');
  assert.deepEqual(await names(store), ['/peers/me', '/dht/a', '/dht/c']);
  assert.equal(store.has(key('/dht/b')), false);
  assert.throws(() => store.get(key('/dht/b')), { name: 'NotFoundError' });
});

it('a bounded datastore refuses a value that is too long', async () => {
  const store = storeOf(2, { maxValueBytes: 2 });
  assert.throws(() => store.put(key('/a'), new Uint8Array(3)));
  assert.deepEqual(await names(store), []);
});

it('a bounded datastore answers queries by prefix, filter, order, offset and limit', async () => {
  const store = storeOf(10);
  for (const name of ['/x/1', '/x/3', '/x/2', '/y/1']) store.put(key(name), Buffer.from(name));
  const byName = (a: { key: Key }, b: { key: Key }) => (a.key.toString() < b.key.toString() ? -1 : 1);
  const query = { prefix: '/x', filters: [], orders: [byName], offset: 1, limit: 1 };
  assert.equal((await Array.fromAsync(store.query(query))).map((each) => each.key).join(), '/x/2');
  const isY = ({ value }: { value: Uint8Array }) => Buffer.from(value).toString() === '/y/1';
  assert.equal((await Array.fromAsync(store.query({ filters: [isY] }))).length, 1);
});

it('a bounded datastore applies a batch at once, and lists of operations one by one', async () => {
  const store = storeOf(10);
  const batch = store.batch();
  batch.put(key('/a'), Uint8Array.of(1));
  batch.delete(key('/b'));
  assert.deepEqual(await names(store), []);
  await batch.commit();
  assert.deepEqual(await names(store), ['/a']);
  await Array.fromAsync(store.putMany([{ key: key('/b'), value: Uint8Array.of(2) }]));
  const values = await Array.fromAsync(store.getMany([key('/a'), key('/b')]));
  assert.equal(values.map(({ value }) => value).join(), '1,2');
  await Array.fromAsync(store.deleteMany([key('/a')]));
  assert.deepEqual(await names(store), ['/b']);
});

it('a bounded datastore keeps a bounded number of providers of a key, and of keys of a provider, the last ones announced', async () => {
  const store = storeOf(100, { maxProvidersPerKey: 2, maxKeysPerProvider: 3 });
  const namesIn = async (prefix = '') => (await names(store, `/dht/provider/${prefix}`)).map((name) => name.slice(14));
  for (const record of ['model/a', 'model/b', 'model/c', '1/greedy', '2/greedy', '3/greedy', '4/greedy', '1/modest'])
    store.put(key(`/dht/provider/${record}`), Uint8Array.of(1));
  assert.deepEqual(await namesIn('model'), ['model/b', 'model/c']);
  const greedy = (await namesIn()).filter((name) => name.endsWith('/greedy'));
  assert.deepEqual(greedy, ['2/greedy', '3/greedy', '4/greedy']);
  store.delete(key('/dht/provider/1/modest'));
  assert.deepEqual(await namesIn('1'), []);
});

it('a bounded datastore finds the providers of a key without scanning other records', async () => {
  const store = storeOf(40_000);
  for (let at = 0; at < 30_000; at += 1) store.put(key(`/dht/provider/cid${at}/peer${at}`), Uint8Array.of(1));
  const beganAt = performance.now();
  for (let at = 0; at < 1_000; at += 1)
    assert.equal((await Array.fromAsync(store.query({ prefix: `/dht/provider/cid${at}` }))).length, 1);
  // Scanning all records takes about 10 ms each time.
  assert.ok(performance.now() - beganAt < 6_000);
});
