// An LRU cache bounded by the number of its entries.
import { LRUCache } from 'lru-cache';

/** Bounded by `max`, lru-cache reserves memory for all entries at once; bounded by size, it grows with those that it has. */
export const countedCache = <Value extends {}>(
  maxEntries: number,
  options: Pick<LRUCache.OptionsBase<string, Value, unknown>, 'ttl' | 'ttlResolution' | 'perf'> = {},
): LRUCache<string, Value> => new LRUCache({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
