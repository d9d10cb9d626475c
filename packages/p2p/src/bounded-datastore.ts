// Where libp2p keeps what peers told it: addresses and provider records. In memory and bounded, since anyone may tell.
import type { Libp2pOptions } from 'libp2p';

type Datastore = NonNullable<Libp2pOptions['datastore']>;
type Key = Parameters<Datastore['get']>[0];
type Pair = { key: Key; value: Uint8Array };
type Query = Parameters<Datastore['query']>[0];
type KeyQuery = Parameters<Datastore['queryKeys']>[0];

export class RecordError extends Error {
  /** `NotFoundError` is the name by which libp2p knows that there is no such record. */
  constructor(name: 'NotFoundError' | 'RecordError', message: string) {
    super(message);
    this.name = name;
  }
}

/**
 * The least recently used records go first, those of each kind (`/peers`, `/dht`) for themselves: who fills the DHT does not
 * make this host forget its peers. A value that is too long is refused.
 */
export class BoundedDatastore implements Datastore {
  readonly #kinds = new Map<string, Map<string, Pair>>();
  readonly #most: number;
  readonly #mostValueBytes: number;

  constructor(bounds: { readonly most: number; readonly mostValueBytes: number }) {
    this.#most = bounds.most;
    this.#mostValueBytes = bounds.mostValueBytes;
  }

  has(key: Key): boolean {
    return this.#pairsLike(key).has(key.toString());
  }

  get(key: Key): Uint8Array {
    const pair = this.#pairsLike(key).get(key.toString());
    if (!pair) throw new RecordError('NotFoundError', 'there is no such record');
    this.#touch(pair);
    return pair.value;
  }

  put(key: Key, value: Uint8Array): Key {
    if (value.byteLength > this.#mostValueBytes) throw new RecordError('RecordError', 'the record is too long');
    this.#touch({ key, value });
    const pairs = this.#pairsLike(key);
    for (const oldest of pairs.keys()) {
      if (pairs.size <= this.#most) break;
      pairs.delete(oldest);
    }
    return key;
  }

  delete(key: Key): void {
    this.#pairsLike(key).delete(key.toString());
  }

  async *putMany(source: Iterable<Pair> | AsyncIterable<Pair>): AsyncGenerator<Key> {
    for await (const { key, value } of source) yield this.put(key, value);
  }

  async *getMany(source: Iterable<Key> | AsyncIterable<Key>): AsyncGenerator<Pair> {
    for await (const key of source) yield { key, value: this.get(key) };
  }

  async *deleteMany(source: Iterable<Key> | AsyncIterable<Key>): AsyncGenerator<Key> {
    for await (const key of source) {
      this.delete(key);
      yield key;
    }
  }

  batch(): ReturnType<Datastore['batch']> {
    const steps: (() => void)[] = [];
    return {
      put: (key, value) => void steps.push(() => this.put(key, value)),
      delete: (key) => void steps.push(() => this.delete(key)),
      commit: () => {
        for (const step of steps.splice(0)) step();
      },
    };
  }

  *query({
    prefix = '',
    filters = [],
    orders = [],
    offset = 0,
    limit = Number.POSITIVE_INFINITY,
  }: Query): Generator<Pair> {
    let pairs = [...this.#kinds.values()]
      .flatMap((kind) => [...kind.values()])
      .filter((pair) => pair.key.toString().startsWith(prefix) && filters.every((filter) => filter(pair)));
    for (const order of orders) pairs = pairs.sort(order);
    yield* pairs.slice(offset, offset + limit);
  }

  *queryKeys({ filters = [], orders = [], ...query }: KeyQuery): Generator<Key> {
    const pairs = this.query({
      ...query,
      filters: filters.map(
        (filter) =>
          ({ key }) =>
            filter(key),
      ),
      orders: orders.map((order) => (a, b) => order(a.key, b.key)),
    });
    for (const { key } of pairs) yield key;
  }

  #touch(pair: Pair): void {
    const [pairs, name] = [this.#pairsLike(pair.key), pair.key.toString()];
    pairs.delete(name);
    pairs.set(name, pair);
  }

  /** libp2p names the kinds; strangers do not. */
  #pairsLike(key: Key): Map<string, Pair> {
    const kind = key.toString().split('/')[1] ?? '';
    const pairs = this.#kinds.get(kind) ?? new Map<string, Pair>();
    this.#kinds.set(kind, pairs);
    return pairs;
  }
}
