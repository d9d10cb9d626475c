// The conversations of this browser, each under its own storage key. State of other tabs is merged, never overwritten.
import {
  type Answer,
  type Conversation,
  isBehind,
  merged,
  newestFirst,
  settled,
  type Turn,
  withinBounds,
} from './conversation.ts';
import { readConversation } from './stored-conversation.ts';

/** The part of `localStorage` that is used; every call may throw if storage is disabled or full. */
export type ConversationStorage = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>;

const KEY_PREFIX = 'strata-chat:';
/** Minimum interval between two writes while an answer arrives. */
const WRITE_MS = 400;

export class ConversationStore {
  readonly #storage: ConversationStorage | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #dirty = new Set<string>();
  /** Ids found in storage at the last access. */
  readonly #inStorage = new Set<string>();
  #all: readonly Conversation[] = [];
  #isPersisted = true;
  #writing: ReturnType<typeof setTimeout> | undefined;

  /** Without storage, conversations last until the page is closed. */
  constructor(storage: ConversationStorage | undefined, now: number) {
    this.#storage = storage;
    this.#all = newestFirst(this.#stored().map((one) => settled(one, now)));
  }

  /** Newest first; the same array until something changes. */
  readonly all = (): readonly Conversation[] => this.#all;

  /** False if storage is full or disabled. */
  readonly isPersisted = (): boolean => this.#isPersisted;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  find(id: string): Conversation | undefined {
    return this.#all.find((one) => one.id === id);
  }

  /** Adds a conversation; the oldest are removed if there are too many. */
  add(conversation: Conversation): void {
    const next = newestFirst([conversation, ...this.#all.filter(({ id }) => id !== conversation.id)]);
    const kept = withinBounds(next);
    this.#publish(kept, [conversation.id, ...next.slice(kept.length).map(({ id }) => id)]);
  }

  change(id: string, to: (conversation: Conversation) => Conversation): void {
    const before = this.find(id);
    if (!before) return;
    this.#publish(
      this.#all.map((one) => (one === before ? to(before) : one)),
      [id],
    );
  }

  /** Changes one answer; false if it no longer exists. */
  changeAnswer(id: string, answerId: string, to: (answer: Answer) => Answer): boolean {
    const isIt = (turn: Turn) => turn.id === answerId && turn.role === 'assistant';
    if (!this.find(id)?.turns.some(isIt)) return false;
    this.change(id, (one) => ({
      ...one,
      turns: one.turns.map((turn) => (turn.role === 'assistant' && isIt(turn) ? to(turn) : turn)),
    }));
    return true;
  }

  remove(ids: readonly string[]): void {
    this.#publish(
      this.#all.filter(({ id }) => !ids.includes(id)),
      ids,
    );
    this.write();
  }

  /** Applies a change by another tab: `key` is null if storage was cleared, `text` is null for a deletion. */
  onStorageEvent(key: string | null, text: string | null): void {
    if (key === null) this.refresh(Date.now());
    if (!key?.startsWith(KEY_PREFIX)) return;
    const id = key.slice(KEY_PREFIX.length);
    if (text !== null) {
      const theirs = readConversation(text);
      if (!theirs) return;
      this.#inStorage.add(id);
      this.#merge([theirs]);
      return;
    }
    this.#drop(id);
  }

  /** Drops a conversation that another tab deleted. */
  #drop(id: string): void {
    this.#dirty.delete(id);
    this.#inStorage.delete(id);
    this.#replace(this.#all.filter((one) => one.id !== id));
  }

  /** Reads storage again after a period without storage events. */
  refresh(now: number): void {
    const kept = this.#stored();
    const ids = new Set(kept.map(({ id }) => id));
    this.#all = this.#all.filter(({ id }) => ids.has(id) || this.#dirty.has(id) || !this.#isPersisted);
    this.#merge(kept);
    this.settle(now);
  }

  /** Stops answers whose page was closed; their text is kept. */
  settle(now: number): void {
    const next = this.#all.map((one) => settled(one, now));
    if (next.some((one, i) => one !== this.#all[i])) this.#replace(next);
  }

  /** Writes all changes immediately. */
  write(): void {
    clearTimeout(this.#writing);
    this.#writing = undefined;
    // Deletions first: they free space.
    for (const id of [...this.#dirty].toSorted((a, b) => Number(!!this.find(a)) - Number(!!this.find(b))))
      if (this.#writeOne(id)) this.#dirty.delete(id);
    // Conversations that did not fit are tried again with the next write.
    const isPersisted = this.#dirty.size === 0;
    if (isPersisted === this.#isPersisted) return;
    this.#isPersisted = isPersisted;
    this.#notify();
  }

  #writeOne(id: string): boolean {
    try {
      const ours = this.find(id);
      if (!ours) {
        this.#storage?.removeItem(KEY_PREFIX + id);
        this.#inStorage.delete(id);
        return true;
      }
      // Another tab may have written or deleted it, and its storage event may not have arrived yet.
      const text = this.#storage?.getItem(KEY_PREFIX + id) ?? null;
      if (text === null && this.#inStorage.has(id)) {
        this.#drop(id);
        return true;
      }
      const theirs = readConversation(text ?? '');
      const both = theirs ? merged(ours, theirs) : ours;
      this.#storage?.setItem(KEY_PREFIX + id, JSON.stringify(both));
      this.#inStorage.add(id);
      if (isBehind(ours, both)) this.#replace(this.#all.map((one) => (one === ours ? both : one)));
      return this.#storage !== undefined;
    } catch {
      return false;
    }
  }

  /** Merges conversations of another tab; what is missing there is written again. */
  #merge(theirs: readonly Conversation[]): void {
    const all = new Map(this.#all.map((one) => [one.id, one]));
    for (const one of theirs) {
      const ours = all.get(one.id);
      const both = ours ? merged(ours, one) : one;
      all.set(one.id, both);
      if (isBehind(one, both)) this.#markDirty(one.id);
    }
    this.#replace([...all.values()]);
  }

  #stored(): Conversation[] {
    const found: Conversation[] = [];
    try {
      const storage = this.#storage;
      for (let i = 0; i < (storage?.length ?? 0); i++) {
        const key = storage?.key(i);
        const one = key?.startsWith(KEY_PREFIX) ? readConversation(storage?.getItem(key) ?? '') : undefined;
        if (!one) continue;
        found.push(one);
        this.#inStorage.add(one.id);
      }
    } catch {
      // Storage is disabled.
    }
    return found;
  }

  #publish(next: readonly Conversation[], changed: readonly string[]): void {
    for (const id of changed) this.#markDirty(id);
    this.#replace(next);
  }

  #markDirty(id: string): void {
    this.#dirty.add(id);
    this.#writing ??= setTimeout(() => this.write(), WRITE_MS);
  }

  #replace(next: readonly Conversation[]): void {
    this.#all = newestFirst(next);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
