// The conversations of this browser, each kept in a place of its own. What another tab has written is put together with what is here, never put in its place.
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

/** Of `localStorage` what is needed; each may throw where the browser keeps nothing, or has no room. */
export type Keeper = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>;

const PLACE = 'strata-chat:';
/** While an answer comes, its conversation is written so often at most. */
const WRITE_MS = 400;

export class ConversationStore {
  readonly #keeper: Keeper | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #dirty = new Set<string>();
  /** Those that were in storage when it was looked at last. */
  readonly #inStorage = new Set<string>();
  #all: readonly Conversation[] = [];
  #isKept = true;
  #writing: ReturnType<typeof setTimeout> | undefined;

  /** Without a keeper all is there as long as the page. */
  constructor(keeper: Keeper | undefined, now: number) {
    this.#keeper = keeper;
    this.#all = newestFirst(this.#kept().map((one) => settled(one, now)));
  }

  /** Newest first; the same list until something changes. */
  readonly all = (): readonly Conversation[] => this.#all;

  /** False where the browser has no room, or keeps nothing. */
  readonly isKept = (): boolean => this.#isKept;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  find(id: string): Conversation | undefined {
    return this.#all.find((one) => one.id === id);
  }

  /** Adds a conversation; the oldest fall away where there are too many. */
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

  /** Changes one answer; false where it is gone, with its conversation. */
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

  /** What another tab has done in storage: `key` null for a clearing, `text` null for a deletion. */
  heard(key: string | null, text: string | null): void {
    if (key === null) this.refresh(Date.now());
    if (!key?.startsWith(PLACE)) return;
    const id = key.slice(PLACE.length);
    if (text !== null) {
      const theirs = readConversation(text);
      if (!theirs) return;
      this.#inStorage.add(id);
      this.#take([theirs]);
      return;
    }
    this.#forget(id);
  }

  /** Somebody wanted it gone. */
  #forget(id: string): void {
    this.#dirty.delete(id);
    this.#inStorage.delete(id);
    this.#show(this.#all.filter((one) => one.id !== id));
  }

  /** Reads anew what is kept, after a time in which nothing was heard. */
  refresh(now: number): void {
    const kept = this.#kept();
    const ids = new Set(kept.map(({ id }) => id));
    this.#all = this.#all.filter(({ id }) => ids.has(id) || this.#dirty.has(id) || !this.#isKept);
    this.#take(kept);
    this.settle(now);
  }

  /** Answers whose page is gone stay as far as they had come. */
  settle(now: number): void {
    const next = this.#all.map((one) => settled(one, now));
    if (next.some((one, i) => one !== this.#all[i])) this.#show(next);
  }

  /** Writes at once what has changed. */
  write(): void {
    clearTimeout(this.#writing);
    this.#writing = undefined;
    // Deletions first: they make room.
    for (const id of [...this.#dirty].toSorted((a, b) => Number(!!this.find(a)) - Number(!!this.find(b))))
      if (this.#writeOne(id)) this.#dirty.delete(id);
    // What found no room goes with the next writing: it may be there by then.
    const isKept = this.#dirty.size === 0;
    if (isKept === this.#isKept) return;
    this.#isKept = isKept;
    this.#tell();
  }

  #writeOne(id: string): boolean {
    try {
      const ours = this.find(id);
      if (!ours) {
        this.#keeper?.removeItem(PLACE + id);
        this.#inStorage.delete(id);
        return true;
      }
      // Another tab may have written or deleted a moment ago, and its message about it not have come.
      const text = this.#keeper?.getItem(PLACE + id) ?? null;
      if (text === null && this.#inStorage.has(id)) {
        this.#forget(id);
        return true;
      }
      const theirs = readConversation(text ?? '');
      const both = theirs ? merged(ours, theirs) : ours;
      this.#keeper?.setItem(PLACE + id, JSON.stringify(both));
      this.#inStorage.add(id);
      if (isBehind(ours, both)) this.#show(this.#all.map((one) => (one === ours ? both : one)));
      return this.#keeper !== undefined;
    } catch {
      return false;
    }
  }

  /** Puts those of another tab together with ours; what it does not have is written again. */
  #take(theirs: readonly Conversation[]): void {
    const all = new Map(this.#all.map((one) => [one.id, one]));
    for (const one of theirs) {
      const ours = all.get(one.id);
      const both = ours ? merged(ours, one) : one;
      all.set(one.id, both);
      if (isBehind(one, both)) this.#mark(one.id);
    }
    this.#show([...all.values()]);
  }

  #kept(): Conversation[] {
    const found: Conversation[] = [];
    try {
      const keeper = this.#keeper;
      for (let i = 0; i < (keeper?.length ?? 0); i++) {
        const place = keeper?.key(i);
        const one = place?.startsWith(PLACE) ? readConversation(keeper?.getItem(place) ?? '') : undefined;
        if (!one) continue;
        found.push(one);
        this.#inStorage.add(one.id);
      }
    } catch {
      // Nothing is kept here.
    }
    return found;
  }

  #publish(next: readonly Conversation[], changed: readonly string[]): void {
    for (const id of changed) this.#mark(id);
    this.#show(next);
  }

  #mark(id: string): void {
    this.#dirty.add(id);
    this.#writing ??= setTimeout(() => this.write(), WRITE_MS);
  }

  #show(next: readonly Conversation[]): void {
    this.#all = newestFirst(next);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
