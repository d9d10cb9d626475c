// Conversations, kept in this browser alone: each in a place of its own, so that two tabs do not undo each other's work.
import { useSyncExternalStore } from 'react';
import type { Segment } from './inference.ts';

/** What the reader set for a conversation; undefined leaves it to the model. */
export interface Settings {
  readonly model?: string;
  readonly system?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly seed?: number;
  readonly stop?: string;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
}

export interface Question {
  readonly role: 'user';
  readonly id: string;
  readonly text: string;
}

/** Why an answer is not whole. */
export interface AnswerProblem {
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  /** Milliseconds since the epoch; another try may do from then on. */
  readonly retryAt: number | null;
}

export interface Answer {
  readonly role: 'assistant';
  readonly id: string;
  readonly text: string;
  readonly state: 'running' | 'whole' | 'stopped' | 'broken';
  readonly model: string;
  readonly askedAt: number;
  readonly finishReason: string | null;
  readonly firstTokenMs: number | null;
  /** From the first token to the last. */
  readonly writingMs: number | null;
  readonly promptTokens: number | null;
  readonly tokens: number | null;
  /** The longest time between two pieces. */
  readonly pauseMs: number | null;
  readonly receiptId: string | null;
  /** Of the body as it was sent. */
  readonly requestSha256: string | null;
  /** As the receipt tells. */
  readonly segments: readonly Segment[] | null;
  readonly problem: AnswerProblem | null;
}

export type Turn = Question | Answer;

export interface Conversation {
  readonly id: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  readonly settings: Settings;
  readonly turns: readonly Turn[];
  /** Turns before this one are not sent any more, since they do not fit. */
  readonly sentFrom: number;
}

const PLACE = 'strata-chat:';
/** The least recently used give way; a browser keeps some five million characters for a site. */
const MOST_CONVERSATIONS = 60;
const MOST_CHARACTERS = 3_000_000;
const TITLE_CHARACTERS = 60;

const listeners = new Set<() => void>();
let all: readonly Conversation[] = readAll();
let isKept = true;
const dirty = new Set<string>();
let writing: ReturnType<typeof setTimeout> | undefined;
/** While an answer comes, its conversation is written so often at most. */
const WRITE_MS = 400;

addEventListener('pagehide', writeDirty);
// Another tab has changed, added or deleted one.
addEventListener('storage', ({ key }) => {
  if (key !== null && !key.startsWith(PLACE)) return;
  const read = readAll();
  all = newestFirst([...read.filter(({ id }) => !dirty.has(id)), ...all.filter(({ id }) => dirty.has(id))]);
  for (const listener of listeners) listener();
});

function readAll(): readonly Conversation[] {
  const found: Conversation[] = [];
  try {
    for (let i = 0; i < localStorage.length; i++) {
      const place = localStorage.key(i);
      if (place?.startsWith(PLACE)) found.push(...readOne(localStorage.getItem(place) ?? ''));
    }
  } catch {
    // Nothing is kept here.
  }
  return newestFirst(found);
}

/** An answer that was coming when the page went away stays as far as it had come. */
function readOne(text: string): Conversation[] {
  try {
    const { turns, ...rest } = JSON.parse(text) as Conversation;
    if (typeof rest.id !== 'string' || !Array.isArray(turns)) return [];
    const settled = turns.map((turn: Turn) =>
      turn.role === 'assistant' && turn.state === 'running' ? { ...turn, state: 'stopped' as const } : turn,
    );
    return [{ ...rest, turns: settled }];
  } catch {
    return [];
  }
}

function newestFirst(list: readonly Conversation[]): readonly Conversation[] {
  return list.toSorted((a, b) => b.changedAt - a.changedAt);
}

function writeDirty(): void {
  clearTimeout(writing);
  writing = undefined;
  for (const id of dirty) {
    const conversation = find(id);
    try {
      if (conversation) localStorage.setItem(PLACE + id, JSON.stringify(conversation));
      else localStorage.removeItem(PLACE + id);
      isKept = true;
    } catch {
      isKept = false;
    }
  }
  dirty.clear();
}

function publish(next: readonly Conversation[], changed: readonly string[]): void {
  all = newestFirst(next);
  for (const id of changed) dirty.add(id);
  writing ??= setTimeout(writeDirty, WRITE_MS);
  for (const listener of listeners) listener();
}

export const find = (id: string): Conversation | undefined => all.find((one) => one.id === id);

/** Adds it, or replaces the one of the same id; the oldest fall away where there are too many. */
export function save(conversation: Conversation): void {
  const next = newestFirst([conversation, ...all.filter(({ id }) => id !== conversation.id)]);
  const kept = withinBounds(next);
  publish(kept, [conversation.id, ...next.slice(kept.length).map(({ id }) => id)]);
}

/** The newest, as many as there is room for; the first stays in any case. */
export function withinBounds(list: readonly Conversation[]): readonly Conversation[] {
  let characters = 0;
  const end = list.findIndex(({ turns }, i) => {
    characters += turns.reduce((sum, { text }) => sum + text.length + 600, 0);
    return i > 0 && (i >= MOST_CONVERSATIONS || characters > MOST_CHARACTERS);
  });
  return end === -1 ? list : list.slice(0, end);
}

export function change(id: string, to: (conversation: Conversation) => Conversation): void {
  const conversation = find(id);
  if (conversation) publish([to(conversation), ...all.filter((one) => one.id !== id)], [id]);
}

export function remove(id: string): void {
  publish(
    all.filter((one) => one.id !== id),
    [id],
  );
  writeDirty();
}

export function removeAll(): void {
  publish(
    [],
    all.map(({ id }) => id),
  );
  writeDirty();
}

/** For conversations and turns; unlike `randomUUID` it is there over plain HTTP, too. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A conversation's first words. */
export function titleOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 1)}…` : line;
}

export function useConversations(): readonly Conversation[] {
  return useSyncExternalStore(subscribe, () => all);
}

/** False where the browser has no room, or keeps nothing. */
export function useIsKept(): boolean {
  return useSyncExternalStore(subscribe, () => isKept);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
