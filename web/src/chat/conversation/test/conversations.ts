// Messages for tests, and the storage that all tabs of a browser share, in memory.
import type { Answer, Question } from '../conversation.ts';
import { ConversationStore, type Keeper } from '../conversation-store.ts';

export const question = (id: string, parent: string | null, at: number, text = id): Question => {
  return { role: 'user', id, parent, at, text };
};

/** A complete one. */
export const answer = (id: string, parent: string, at: number): Answer => ({
  ...{ role: 'assistant', id, parent, askedAt: at, at, text: id, state: 'whole', model: 'm', finishReason: 'stop' },
  ...{ firstTokenMs: 10, writingMs: 100, pauseMs: 5, promptTokens: 3, tokens: 11, reasoningTokens: 0 },
  ...{ receiptId: 'rwr_1', salt: null, requestSha256: null, segments: null, problem: null },
});

/** Notifies the tabs that did not write of each write. */
export class MemoryStorage {
  readonly #kept = new Map<string, string>();
  readonly #tabs: { readonly store: ConversationStore; readonly received: (() => void)[] }[] = [];
  /** In characters. */
  capacity = Number.POSITIVE_INFINITY;

  get texts(): readonly string[] {
    return [...this.#kept.values()];
  }

  /** A tab that opens now. */
  open(now: number): ConversationStore {
    const received: (() => void)[] = [];
    const notify = (key: string, text: string | null) => {
      for (const tab of this.#tabs) if (tab.received !== received) tab.received.push(() => tab.store.heard(key, text));
    };
    const kept = this.#kept;
    const isFull = (key: string, text: string) => {
      const others = [...kept].filter(([other]) => other !== key);
      return others.reduce((sum, [, { length }]) => sum + length, text.length) > this.capacity;
    };
    const keeper: Keeper = {
      get length() {
        return kept.size;
      },
      key: (at) => [...kept.keys()][at] ?? null,
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, text) => {
        if (isFull(key, text)) throw new DOMException('full', 'QuotaExceededError');
        if (kept.get(key) === text) return;
        kept.set(key, text);
        notify(key, text);
      },
      removeItem: (key) => {
        if (kept.delete(key)) notify(key, null);
      },
    };
    const store = new ConversationStore(keeper, now);
    this.#tabs.push({ store, received });
    return store;
  }

  /** Writes and notifies until no tab changes; throws if that does not end. */
  settle(): void {
    for (let round = 0; round < 20; round += 1) {
      for (const { store } of this.#tabs) store.write();
      const waiting = this.#tabs.flatMap(({ received }) => received.splice(0));
      if (waiting.length === 0) return;
      for (const receive of waiting) receive();
    }
    throw new Error('the tabs never agree');
  }
}
