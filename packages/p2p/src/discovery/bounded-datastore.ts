// The datastore of libp2p: addresses and provider records from other peers. In memory and bounded, because the input is
// untrusted.
import { BaseDatastore } from 'datastore-core';
import type { Libp2pOptions } from 'libp2p';

type Datastore = NonNullable<Libp2pOptions['datastore']>;
type Key = Parameters<Datastore['get']>[0];
type Pair = { key: Key; value: Uint8Array };
type Query = Parameters<Datastore['query']>[0];
type KeyQuery = Parameters<Datastore['queryKeys']>[0];

class RecordError extends Error {
  /** libp2p recognizes a missing record by the name `NotFoundError`. */
  constructor(name: 'NotFoundError' | 'RecordError', message: string) {
    super(message);
    this.name = name;
  }
}

export interface RecordBounds {
  /** Records per kind. */
  readonly max: number;
  readonly maxValueBytes: number;
  /** Providers per key, which are all read for each response. */
  readonly maxProvidersPerKey: number;
  readonly maxKeysPerProvider: number;
}

type Pairs = Map<string, Pair>;

/** Key format of the DHT's provider records: the key, then the peer that has it. */
const PROVIDER = /^(\/dht\/provider\/[^/]+)\/([^/]+)$/;
const PROVIDED_KEY = /^\/dht\/provider\/[^/]+$/;

/**
 * Evicts the least recently used records, separately for each kind (`/peers`, `/dht`): filling the DHT cannot evict
 * peers. Values that are too long are refused. An index finds the providers of a key without scanning other records,
 * because any connected peer may query them.
 */
export class BoundedDatastore extends BaseDatastore {
  readonly #kinds = new Map<string, Pairs>();
  readonly #providersOf = new Map<string, Pairs>();
  readonly #keysOf = new Map<string, Pairs>();
  readonly #bounds: RecordBounds;

  constructor(bounds: RecordBounds) {
    super();
    this.#bounds = bounds;
  }

  override has(key: Key): boolean {
    return this.#pairsLike(key).has(key.toString());
  }

  override get(key: Key): Uint8Array {
    const pair = this.#pairsLike(key).get(key.toString());
    if (!pair) throw new RecordError('NotFoundError', 'record not found');
    this.#touch(pair);
    return pair.value;
  }

  override put(key: Key, value: Uint8Array): Key {
    const { max, maxValueBytes, maxProvidersPerKey, maxKeysPerProvider } = this.#bounds;
    if (value.byteLength > maxValueBytes) throw new RecordError('RecordError', 'the record is too long');
    this.#touch({ key, value });
    this.#trim(this.#pairsLike(key), max);
    const [, provided = '', provider = ''] = PROVIDER.exec(key.toString()) ?? [];
    this.#trim(this.#providersOf.get(provided), maxProvidersPerKey);
    this.#trim(this.#keysOf.get(provider), maxKeysPerProvider);
    return key;
  }

  override delete(key: Key): void {
    const name = key.toString();
    this.#pairsLike(key).delete(name);
    const [, provided, provider] = PROVIDER.exec(name) ?? [];
    if (provided === undefined || provider === undefined) return;
    remove(this.#providersOf, provided, name);
    remove(this.#keysOf, provider, name);
  }

  override *_all({ prefix = '' }: Query): Generator<Pair> {
    const searched = PROVIDED_KEY.test(prefix) ? [this.#providersOf.get(prefix)] : this.#kinds.values();
    for (const pairs of searched) yield* [...(pairs?.values() ?? [])];
  }

  override *_allKeys({ prefix = '' }: KeyQuery): Generator<Key> {
    for (const { key } of this._all({ prefix })) yield key;
  }

  #touch(pair: Pair): void {
    const name = pair.key.toString();
    const [, provided, provider] = PROVIDER.exec(name) ?? [];
    const indexes = [this.#pairsLike(pair.key)];
    if (provided !== undefined) indexes.push(pairsOf(this.#providersOf, provided));
    if (provider !== undefined) indexes.push(pairsOf(this.#keysOf, provider));
    for (const pairs of indexes) {
      pairs.delete(name);
      pairs.set(name, pair);
    }
  }

  #trim(pairs: Pairs | undefined, max: number): void {
    if (!pairs) return;
    for (const { key } of pairs.values()) {
      if (pairs.size <= max) break;
      this.delete(key);
    }
  }

  /** The kinds are defined by libp2p, not by peers. */
  #pairsLike(key: Key): Pairs {
    return pairsOf(this.#kinds, key.toString().split('/')[1] ?? '');
  }
}

function pairsOf(index: Map<string, Pairs>, name: string): Pairs {
  const pairs = index.get(name) ?? new Map<string, Pair>();
  index.set(name, pairs);
  return pairs;
}

function remove(index: Map<string, Pairs>, at: string, name: string): void {
  const pairs = index.get(at);
  pairs?.delete(name);
  if (pairs?.size === 0) index.delete(at);
}
