// A conversation as a value: all that was asked and answered in it, of which one path is shown. Nothing is taken out of it, so that two tabs can be put together without losing a word.

import type { Settings } from '../asking/parameters.ts';
import type { Segment } from '../inference.ts';

export interface Question {
  readonly role: 'user';
  readonly id: string;
  /** The answer it follows; null for a first question. Questions of one parent are versions of each other. */
  readonly parent: string | null;
  /** Milliseconds since the epoch, as all times here. */
  readonly at: number;
  readonly text: string;
}

/** Why an answer is not whole. */
export interface AnswerProblem {
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  /** Another try may do from then on. */
  readonly retryAt: number | null;
}

export interface Answer {
  readonly role: 'assistant';
  readonly id: string;
  /** Its question. Answers of one parent are versions of each other. */
  readonly parent: string;
  readonly askedAt: number;
  /** When it changed last; while it is written it changes every few seconds at least. */
  readonly at: number;
  readonly text: string;
  readonly state: 'running' | 'whole' | 'stopped' | 'broken';
  readonly model: string;
  readonly finishReason: string | null;
  readonly firstTokenMs: number | null;
  readonly writingMs: number | null;
  readonly pauseMs: number | null;
  readonly promptTokens: number | null;
  /** Of the answer, reasoning included. */
  readonly tokens: number | null;
  readonly reasoningTokens: number | null;
  readonly receiptId: string | null;
  /** Of the receipt's digests; null of receipts that have none. */
  readonly salt: string | null;
  /** Hex, of the body as it was sent. */
  readonly requestSha256: string | null;
  /** As the receipt tells. */
  readonly segments: readonly Segment[] | null;
  readonly problem: AnswerProblem | null;
}

export type Turn = Question | Answer;

export interface Conversation {
  readonly id: string;
  /** When somebody asked last; the list is in this order. */
  readonly changedAt: number;
  readonly title: string;
  readonly settings: Settings;
  /** Of title and settings: the later one counts. */
  readonly setAt: number;
  /** In no order. */
  readonly turns: readonly Turn[];
  /** The last turn of the path that is shown. */
  readonly head: string | null;
  /** Turns of the path before this one are not sent any more, since they do not fit; null: all are. */
  readonly sentFrom: string | null;
  /** Of `head` and `sentFrom`. */
  readonly headAt: number;
}

/** The oldest conversations give way; a browser keeps some five million characters for a site. */
const MAX_CONVERSATIONS = 60;
const MAX_CHARACTERS = 3_000_000;
/** What a turn takes beside its text, about. */
const TURN_CHARACTERS = 600;
const TITLE_CHARACTERS = 60;
/** Of hidden tabs browsers wake timers once a minute: only after this is an answer without a sign of life taken for lost. */
const LOST_MS = 90_000;

/** Turns from the first question to the head. */
export function pathOf({ turns, head }: Pick<Conversation, 'turns' | 'head'>): readonly Turn[] {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const path: Turn[] = [];
  for (let turn = head === null ? undefined : byId.get(head); turn; ) {
    path.push(turn);
    // Taken out so that a ring, which only a damaged record has, ends.
    byId.delete(turn.id);
    turn = turn.parent === null ? undefined : byId.get(turn.parent);
  }
  return path.reverse();
}

/** What is sent of a path. */
export function sentPart(path: readonly Turn[], sentFrom: string | null): readonly Turn[] {
  return path.slice(
    Math.max(
      0,
      path.findIndex(({ id }) => id === sentFrom),
    ),
  );
}

const bornAt = (turn: Turn): number => (turn.role === 'user' ? turn.at : turn.askedAt);
const byBirth = (a: Turn, b: Turn): number => bornAt(a) - bornAt(b) || (a.id < b.id ? -1 : 1);

/** A turn and what was asked or answered in its place, the oldest first; tries that brought no word are left out. */
export function versionsOf({ turns }: Pick<Conversation, 'turns'>, { id, role, parent }: Turn): readonly Turn[] {
  const isWorthIt = (turn: Turn) =>
    turn.role === 'user' || turn.id === id || turn.state === 'running' || turn.state === 'whole' || turn.text !== '';
  return turns.filter((turn) => turn.role === role && turn.parent === parent && isWorthIt(turn)).toSorted(byBirth);
}

/** Shows the path through a turn, from there on the newest. */
export function showing(conversation: Conversation, id: string, at: number): Conversation {
  let head = id;
  for (const seen = new Set<string>(); !seen.has(head); ) {
    seen.add(head);
    head =
      conversation.turns
        .filter(({ parent }) => parent === head)
        .toSorted(byBirth)
        .at(-1)?.id ?? head;
  }
  return { ...conversation, head, headAt: at };
}

/** A turn at the end of the path that is shown. */
export function withTurn(conversation: Conversation, turn: Turn, at: number): Conversation {
  return { ...conversation, changedAt: at, turns: [...conversation.turns, turn], head: turn.id, headAt: at };
}

/** Whether the path that is shown ends in an answer that is being written, here or in another tab. */
export function isRunning(conversation: Pick<Conversation, 'turns' | 'head'>): boolean {
  const last = pathOf(conversation).at(-1);
  return last?.role === 'assistant' && last.state === 'running';
}

/**
 * Both together: every turn of either, the later of each. The order of the two does not matter, nor how often they are
 * put together: so tabs that tell each other what they have end with the same.
 */
export function merged(a: Conversation, b: Conversation): Conversation {
  const turns = new Map(a.turns.map((turn) => [turn.id, turn]));
  for (const turn of b.turns) turns.set(turn.id, laterTurn(turns.get(turn.id) ?? turn, turn));
  const { title, settings, setAt } = later(a, b, ({ setAt, title, settings }) => [setAt, title, settings]);
  const { head, sentFrom, headAt } = later(a, b, ({ headAt, head, sentFrom }) => [headAt, head, sentFrom]);
  const changedAt = Math.max(a.changedAt, b.changedAt);
  return { id: a.id, changedAt, title, settings, setAt, turns: [...turns.values()], head, sentFrom, headAt };
}

/** The one whose time, which comes first in its rank, is greater; the rest of the rank decides where the times are the same. */
function later(a: Conversation, b: Conversation, rank: (one: Conversation) => readonly [number, ...unknown[]]) {
  const [[atA, ...restA], [atB, ...restB]] = [rank(a), rank(b)];
  return atA > atB || (atA === atB && JSON.stringify(restA) >= JSON.stringify(restB)) ? a : b;
}

/** The time of what is changed now: later than what it takes the place of, whatever the clock says. */
export const changeTime = ({ at }: Pick<Turn, 'at'>, now: number): number => Math.max(now, at + 1);

function laterTurn(a: Turn, b: Turn): Turn {
  // How an answer ended its writer alone knows; a stop that somebody asked for meanwhile came too late.
  const isEnded = (turn: Turn) => turn.role === 'assistant' && (turn.state === 'whole' || turn.state === 'broken');
  if (isEnded(a) !== isEnded(b)) return isEnded(a) ? a : b;
  if (a.at !== b.at) return a.at > b.at ? a : b;
  if (a.role === 'user' || b.role === 'user') return a.text >= b.text ? a : b;
  const isOver = ({ state }: Answer) => state !== 'running';
  if (isOver(a) !== isOver(b)) return isOver(a) ? a : b;
  return JSON.stringify(a) >= JSON.stringify(b) ? a : b;
}

/** Whether there is something in `whole` that `part`, of the same conversation, lacks. */
export function isBehind(part: Conversation, whole: Conversation): boolean {
  if (part.setAt < whole.setAt || part.headAt < whole.headAt || part.changedAt < whole.changedAt) return true;
  const times = new Map(part.turns.map(({ id, at }) => [id, at]));
  return whole.turns.some(({ id, at }) => (times.get(id) ?? Number.NEGATIVE_INFINITY) < at);
}

/** An answer of whose writer nothing was heard for long, stays as far as it had come: its page is gone. */
export function settled(conversation: Conversation, now: number): Conversation {
  const isLost = (turn: Turn) => turn.role === 'assistant' && turn.state === 'running' && turn.at < now - LOST_MS;
  if (!conversation.turns.some(isLost)) return conversation;
  // Its time stays: should the writer live after all, what it writes next is later and counts.
  return {
    ...conversation,
    turns: conversation.turns.map((turn) => (isLost(turn) ? { ...(turn as Answer), state: 'stopped' } : turn)),
  };
}

/** The newest, as many as there is room for; the first stays in any case. */
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

export function newConversation(settings: Settings, words: string, at: number): Conversation {
  const nothing = { turns: [], head: null, sentFrom: null };
  return { id: newId(), changedAt: at, title: titleOf(words), settings, setAt: at, ...nothing, headAt: at };
}

/** For conversations and turns; unlike `randomUUID` it is there over plain HTTP, too. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A conversation's first words. */
export function titleOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 1).toWellFormed()}…` : line;
}
