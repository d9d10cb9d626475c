// An LRU cache limited by its number of entries.
import { LRUCache } from 'lru-cache';

/** With `max`, lru-cache allocates memory for all entries at once; with a size limit, it grows with its entries. */
export const countedCache = <Value extends {}>(
  maxEntries: number,
  options: Pick<LRUCache.OptionsBase<string, Value, unknown>, 'ttl' | 'ttlResolution' | 'perf'> = {},
): LRUCache<string, Value> => new LRUCache({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
