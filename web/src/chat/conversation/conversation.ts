// A conversation as a value: a tree of questions and answers, of which one path is shown. Turns are never removed, so that
// the states of two tabs can be merged without loss.

import type { Settings } from '../asking/parameters.ts';
import type { Segment } from '../inference.ts';

export interface Question {
  readonly role: 'user';
  readonly id: string;
  /** The preceding answer; null for a first question. Questions with the same parent are versions of each other. */
  readonly parent: string | null;
  /** Milliseconds since the epoch, like all times here. */
  readonly at: number;
  readonly text: string;
}

/** Why an answer is incomplete. */
export interface AnswerProblem {
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  /** The earliest time at which a retry may succeed. */
  readonly retryAt: number | null;
}

export interface Answer {
  readonly role: 'assistant';
  readonly id: string;
  /** Its question. Answers with the same parent are versions of each other. */
  readonly parent: string;
  readonly askedAt: number;
  /** Last change; updated at least every few seconds while the answer is written. */
  readonly at: number;
  readonly text: string;
  readonly state: 'running' | 'whole' | 'stopped' | 'broken';
  readonly model: string;
  readonly finishReason: string | null;
  readonly firstTokenMs: number | null;
  readonly writingMs: number | null;
  readonly pauseMs: number | null;
  readonly promptTokens: number | null;
  /** Completion tokens, including reasoning. */
  readonly tokens: number | null;
  readonly reasoningTokens: number | null;
  readonly receiptId: string | null;
  /** The salt of the receipt's digests; null if the receipt has none. */
  readonly salt: string | null;
  /** Hexadecimal SHA-256 of the request body. */
  readonly requestSha256: string | null;
  /** From the receipt. */
  readonly segments: readonly Segment[] | null;
  readonly problem: AnswerProblem | null;
}

export type Turn = Question | Answer;

export interface Conversation {
  readonly id: string;
  /** Time of the last turn; the list is sorted by it. */
  readonly changedAt: number;
  readonly title: string;
  readonly settings: Settings;
  /** Last change of title and settings; the later one wins. */
  readonly setAt: number;
  /** Unordered. */
  readonly turns: readonly Turn[];
  /** The last turn of the displayed path. */
  readonly head: string | null;
  /** Turns of the path before this one exceed the context and are not sent; null: all are sent. */
  readonly sentFrom: string | null;
  /** Last change of `head` and `sentFrom`; the later one wins. */
  readonly headAt: number;
}

/** The oldest conversations are removed first; browsers store about five million characters per site. */
const MAX_CONVERSATIONS = 60;
const MAX_CHARACTERS = 3_000_000;
/** Approximate size of a turn without its text. */
const TURN_CHARACTERS = 600;
const TITLE_CHARACTERS = 60;
/** An answer without an update for this long is considered lost. Browsers run timers of hidden tabs once a minute. */
const LOST_MS = 90_000;

/** Turns from the first question to the head. */
export function pathOf({ turns, head }: Pick<Conversation, 'turns' | 'head'>): readonly Turn[] {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const path: Turn[] = [];
  for (let turn = head === null ? undefined : byId.get(head); turn; ) {
    path.push(turn);
    // Deleted so that a cycle, possible only in a damaged record, ends.
    byId.delete(turn.id);
    turn = turn.parent === null ? undefined : byId.get(turn.parent);
  }
  return path.reverse();
}

export function sentPart(path: readonly Turn[], sentFrom: string | null): readonly Turn[] {
  return path.slice(
    Math.max(
      0,
      path.findIndex(({ id }) => id === sentFrom),
    ),
  );
}

const createdAt = (turn: Turn): number => (turn.role === 'user' ? turn.at : turn.askedAt);
const byCreation = (a: Turn, b: Turn): number => createdAt(a) - createdAt(b) || (a.id < b.id ? -1 : 1);

/** All versions of a turn, oldest first; empty attempts are left out. */
export function versionsOf({ turns }: Pick<Conversation, 'turns'>, { id, role, parent }: Turn): readonly Turn[] {
  const isVersion = (turn: Turn) =>
    turn.role === 'user' || turn.id === id || turn.state === 'running' || turn.state === 'whole' || turn.text !== '';
  return turns.filter((turn) => turn.role === role && turn.parent === parent && isVersion(turn)).toSorted(byCreation);
}

/** Shows the path through a turn and the newest turns after it. */
export function showing(conversation: Conversation, id: string, at: number): Conversation {
  let head = id;
  for (const visited = new Set<string>(); !visited.has(head); ) {
    visited.add(head);
    head =
      conversation.turns
        .filter(({ parent }) => parent === head)
        .toSorted(byCreation)
        .at(-1)?.id ?? head;
  }
  return { ...conversation, head, headAt: at };
}

/** Appends a turn to the displayed path. */
export function withTurn(conversation: Conversation, turn: Turn, at: number): Conversation {
  return { ...conversation, changedAt: at, turns: [...conversation.turns, turn], head: turn.id, headAt: at };
}

/** Whether the displayed path ends in an answer that is being written, here or in another tab. */
export function isRunning(conversation: Pick<Conversation, 'turns' | 'head'>): boolean {
  const last = pathOf(conversation).at(-1);
  return last?.role === 'assistant' && last.state === 'running';
}

/**
 * Merges two states: every turn of either, and the later version of each. Commutative and idempotent, so that tabs that
 * exchange their states converge.
 */
export function merged(a: Conversation, b: Conversation): Conversation {
  const turns = new Map(a.turns.map((turn) => [turn.id, turn]));
  for (const turn of b.turns) turns.set(turn.id, laterTurn(turns.get(turn.id) ?? turn, turn));
  const { title, settings, setAt } = later(a, b, ({ setAt, title, settings }) => [setAt, title, settings]);
  const { head, sentFrom, headAt } = later(a, b, ({ headAt, head, sentFrom }) => [headAt, head, sentFrom]);
  const changedAt = Math.max(a.changedAt, b.changedAt);
  return { id: a.id, changedAt, title, settings, setAt, turns: [...turns.values()], head, sentFrom, headAt };
}

/** The one with the greater time, which is the first element of its rank; the other elements break ties. */
function later(a: Conversation, b: Conversation, rank: (one: Conversation) => readonly [number, ...unknown[]]) {
  const [[atA, ...restA], [atB, ...restB]] = [rank(a), rank(b)];
  return atA > atB || (atA === atB && JSON.stringify(restA) >= JSON.stringify(restB)) ? a : b;
}

/** The time of a change: always later than that of the previous version, whatever the clock says. */
export const changeTime = ({ at }: Pick<Turn, 'at'>, now: number): number => Math.max(now, at + 1);

function laterTurn(a: Turn, b: Turn): Turn {
  // Only the writer knows how an answer ended; a stop requested by another tab before that arrived too late.
  const isEnded = (turn: Turn) => turn.role === 'assistant' && (turn.state === 'whole' || turn.state === 'broken');
  if (isEnded(a) !== isEnded(b)) return isEnded(a) ? a : b;
  if (a.at !== b.at) return a.at > b.at ? a : b;
  if (a.role === 'user' || b.role === 'user') return a.text >= b.text ? a : b;
  const isFinished = ({ state }: Answer) => state !== 'running';
  if (isFinished(a) !== isFinished(b)) return isFinished(a) ? a : b;
  return JSON.stringify(a) >= JSON.stringify(b) ? a : b;
}

/** Whether `one` lacks anything that `other`, a state of the same conversation, has. */
export function isBehind(one: Conversation, other: Conversation): boolean {
  if (one.setAt < other.setAt || one.headAt < other.headAt || one.changedAt < other.changedAt) return true;
  const times = new Map(one.turns.map(({ id, at }) => [id, at]));
  return other.turns.some(({ id, at }) => (times.get(id) ?? Number.NEGATIVE_INFINITY) < at);
}

/** Stops answers that were not updated for `LOST_MS`: their page was closed. Their text is kept. */
export function settled(conversation: Conversation, now: number): Conversation {
  const isLost = (turn: Turn) => turn.role === 'assistant' && turn.state === 'running' && turn.at < now - LOST_MS;
  if (!conversation.turns.some(isLost)) return conversation;
  // The time is unchanged: if the writer is still alive, its next write is later and wins.
  return {
    ...conversation,
    turns: conversation.turns.map((turn) => (isLost(turn) ? { ...(turn as Answer), state: 'stopped' } : turn)),
  };
}

/** The newest conversations within the size limits; always at least the first. */
export function withinBounds(list: readonly Conversation[]): readonly Conversation[] {
  let characters = 0;
  const end = list.findIndex(({ turns }, i) => {
    characters += turns.reduce((sum, { text }) => sum + text.length + TURN_CHARACTERS, 0);
    return i > 0 && (i >= MAX_CONVERSATIONS || characters > MAX_CHARACTERS);
  });
  return end === -1 ? list : list.slice(0, end);
}

export function newestFirst(list: readonly Conversation[]): readonly Conversation[] {
  return list.toSorted((a, b) => b.changedAt - a.changedAt || (a.id < b.id ? -1 : 1));
}

export function newConversation(settings: Settings, firstQuestion: string, at: number): Conversation {
  const nothing = { turns: [], head: null, sentFrom: null };
  return { id: newId(), changedAt: at, title: titleOf(firstQuestion), settings, setAt: at, ...nothing, headAt: at };
}

/** For conversations and turns. `randomUUID` is not available over plain HTTP. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The title of a conversation: its first words. */
export function titleOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 1).toWellFormed()}…` : line;
}
