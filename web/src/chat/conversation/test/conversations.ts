// Turns for tests, and an in-memory storage shared by the tabs of a browser.
import type { Answer, Question } from '../conversation.ts';
import { type ConversationStorage, ConversationStore } from '../conversation-store.ts';

export const question = (id: string, parent: string | null, at: number, text = id): Question => {
  return { role: 'user', id, parent, at, text };
};

/** A complete answer. */
export const answer = (id: string, parent: string, at: number): Answer => ({
  ...{ role: 'assistant', id, parent, askedAt: at, at, text: id, state: 'whole', model: 'm', finishReason: 'stop' },
  ...{ firstTokenMs: 10, writingMs: 100, pauseMs: 5, promptTokens: 3, tokens: 11, reasoningTokens: 0 },
  ...{ receiptId: 'rwr_1', salt: null, requestSha256: null, segments: null, problem: null },
});

/** Notifies the other tabs of each write. */
export class MemoryStorage {
  readonly #stored = new Map<string, string>();
  readonly #tabs: { readonly store: ConversationStore; readonly queue: (() => void)[] }[] = [];
  /** In characters. */
  capacity = Number.POSITIVE_INFINITY;

  get texts(): readonly string[] {
    return [...this.#stored.values()];
  }

  /** A tab that opens now. */
  open(now: number): ConversationStore {
    const queue: (() => void)[] = [];
    const notify = (key: string, text: string | null) => {
      for (const tab of this.#tabs) if (tab.queue !== queue) tab.queue.push(() => tab.store.onStorageEvent(key, text));
    };
    const stored = this.#stored;
    const isFull = (key: string, text: string) => {
      const otherEntries = [...stored].filter(([other]) => other !== key);
      return otherEntries.reduce((sum, [, { length }]) => sum + length, text.length) > this.capacity;
    };
    const tabStorage: ConversationStorage = {
      get length() {
        return stored.size;
      },
      key: (at) => [...stored.keys()][at] ?? null,
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, text) => {
        if (isFull(key, text)) throw new DOMException('full', 'QuotaExceededError');
        if (stored.get(key) === text) return;
        stored.set(key, text);
        notify(key, text);
      },
      removeItem: (key) => {
        if (stored.delete(key)) notify(key, null);
      },
    };
    const store = new ConversationStore(tabStorage, now);
    this.#tabs.push({ store, queue });
    return store;
  }

  /** Writes and notifies until no tab changes; throws if the tabs do not converge. */
  settle(): void {
    for (let round = 0; round < 20; round += 1) {
      for (const { store } of this.#tabs) store.write();
      const waiting = this.#tabs.flatMap(({ queue }) => queue.splice(0));
      if (waiting.length === 0) return;
      for (const receive of waiting) receive();
    }
    throw new Error('the tabs do not converge');
  }
}
