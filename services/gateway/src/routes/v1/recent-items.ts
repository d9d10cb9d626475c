// The newest output items of `/v1/responses`, for requests that refer to them by id: some clients send an item only once.
// They are in memory only, and found only with the key that they were generated for.
import type { OutputItem } from '@strata/inference';
import { LRUCache } from 'lru-cache';

/** UTF-16 code units of all items, with what an item takes without its text. A summary is the same string as the text. */
const MAX_SIZE = 32 * 1024 * 1024;
const ITEM_SIZE = 512;
/** Larger items are not kept. */
const MAX_ITEM_SIZE = 1024 * 1024;
const KEPT_MS = 3_600_000;

export class RecentItems {
  readonly #items = new LRUCache<string, OutputItem>({
    ...{ maxSize: MAX_SIZE, maxEntrySize: MAX_ITEM_SIZE, sizeCalculation: sizeOf, ttl: KEPT_MS, ttlAutopurge: true },
  });

  keep(keyId: string, item: OutputItem): void {
    this.#items.set(`${keyId} ${item.id}`, item);
  }

  find(keyId: string, id: string): OutputItem | undefined {
    return this.#items.get(`${keyId} ${id}`);
  }
}

function sizeOf(item: OutputItem): number {
  if (item.type === 'function_call') return ITEM_SIZE + item.arguments.length;
  return item.content.reduce((sum, { text }) => sum + text.length, ITEM_SIZE);
}
