// A conversation as the browser keeps it: JSON, of which nothing is believed that cannot be shown.

import { NUMBER_PARAMETERS, type Settings } from '../asking/parameters.ts';
import type { Answer, Conversation, Question, Turn } from './conversation.ts';

/** Undefined where it is none. Turns that are none are left out. */
export function readConversation(text: string): Conversation | undefined {
  const kept = objectOf(parsed(text));
  const { id } = kept;
  if (typeof id !== 'string' || !Array.isArray(kept.turns)) return undefined;
  const changedAt = numberOf(kept.changedAt) ?? 0;
  const turns: Turn[] = [];
  for (const entry of kept.turns as readonly unknown[]) {
    const turn = turnOf(objectOf(entry), turns.at(-1)?.id ?? null, changedAt);
    if (turn) turns.push(turn);
  }
  return {
    id,
    changedAt,
    title: wordsOf(kept.title) ?? '',
    settings: settingsOf(objectOf(kept.settings)),
    setAt: numberOf(kept.setAt) ?? changedAt,
    turns,
    head: wordsOf(kept.head) ?? turns.at(-1)?.id ?? null,
    sentFrom: wordsOf(kept.sentFrom) ?? turns[numberOf(kept.sentFrom) || -1]?.id ?? null,
    headAt: numberOf(kept.headAt) ?? changedAt,
  };
}

/** Turns were kept as a list once, without parents and times: there each follows the one before. */
function turnOf(kept: Record<string, unknown>, before: string | null, changedAt: number): Turn | undefined {
  const { id, text, role } = kept;
  if (typeof id !== 'string' || typeof text !== 'string') return undefined;
  const parent = kept.parent === undefined ? before : wordsOf(kept.parent);
  const at = numberOf(kept.at) ?? changedAt;
  if (role === 'user') return { role, id, parent, at, text } satisfies Question;
  if (role !== 'assistant' || parent === null) return undefined;
  const problem = kept.problem ? objectOf(kept.problem) : null;
  return {
    role,
    id,
    parent,
    at,
    text,
    askedAt: numberOf(kept.askedAt) ?? at,
    state: STATES.find((state) => state === kept.state) ?? 'stopped',
    model: wordsOf(kept.model) ?? '',
    finishReason: wordsOf(kept.finishReason),
    firstTokenMs: numberOf(kept.firstTokenMs),
    writingMs: numberOf(kept.writingMs),
    pauseMs: numberOf(kept.pauseMs),
    promptTokens: numberOf(kept.promptTokens),
    tokens: numberOf(kept.tokens),
    reasoningTokens: numberOf(kept.reasoningTokens),
    receiptId: wordsOf(kept.receiptId),
    salt: wordsOf(kept.salt),
    requestSha256: wordsOf(kept.requestSha256),
    segments: Array.isArray(kept.segments) ? kept.segments.flatMap((entry) => segmentOf(objectOf(entry))) : null,
    problem: problem && {
      code: wordsOf(problem.code) ?? 'failed',
      message: wordsOf(problem.message) ?? '',
      requestId: wordsOf(problem.requestId),
      retryAt: numberOf(problem.retryAt),
    },
  } satisfies Answer;
}

/** Of the right kind; whether the service takes a number, it says itself. */
function settingsOf(kept: Record<string, unknown>): Settings {
  const words = TEXT_PARAMETERS.filter((name) => typeof kept[name] === 'string');
  const numbers = NUMBER_PARAMETERS.map(({ name }) => name).filter((name) => numberOf(kept[name]) !== null);
  return Object.fromEntries([...words, ...numbers].map((name) => [name, kept[name]]));
}

const TEXT_PARAMETERS = ['model', 'system', 'stop'] as const;

const STATES = ['running', 'whole', 'stopped', 'broken'] as const;

function segmentOf({ worker, from, to }: Record<string, unknown>) {
  return typeof worker === 'string' && typeof from === 'number' && typeof to === 'number' ? [{ worker, from, to }] : [];
}

const wordsOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
