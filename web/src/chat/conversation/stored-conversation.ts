// Reads a conversation from browser storage. The JSON is untrusted: fields of the wrong type are dropped.

import { NUMBER_PARAMETERS, type Settings } from '../asking/parameters.ts';
import type { Answer, Conversation, Question, Turn } from './conversation.ts';

/** Undefined if the text is not a conversation. Invalid turns are left out. */
export function readConversation(text: string): Conversation | undefined {
  const stored = objectOf(parsed(text));
  const { id } = stored;
  if (typeof id !== 'string' || !Array.isArray(stored.turns)) return undefined;
  const changedAt = numberOf(stored.changedAt) ?? 0;
  const turns: Turn[] = [];
  for (const entry of stored.turns as readonly unknown[]) {
    const turn = turnOf(objectOf(entry), turns.at(-1)?.id ?? null, changedAt);
    if (turn) turns.push(turn);
  }
  return {
    id,
    changedAt,
    title: textOf(stored.title) ?? '',
    settings: settingsOf(objectOf(stored.settings)),
    setAt: numberOf(stored.setAt) ?? changedAt,
    turns,
    head: textOf(stored.head) ?? turns.at(-1)?.id ?? null,
    sentFrom: textOf(stored.sentFrom) ?? turns[numberOf(stored.sentFrom) || -1]?.id ?? null,
    headAt: numberOf(stored.headAt) ?? changedAt,
  };
}

/** An earlier format stored turns as a list, without parents and times: there each turn follows the previous one. */
function turnOf(stored: Record<string, unknown>, before: string | null, changedAt: number): Turn | undefined {
  const { id, text, role } = stored;
  if (typeof id !== 'string' || typeof text !== 'string') return undefined;
  const parent = stored.parent === undefined ? before : textOf(stored.parent);
  const at = numberOf(stored.at) ?? changedAt;
  if (role === 'user') return { role, id, parent, at, text } satisfies Question;
  if (role !== 'assistant' || parent === null) return undefined;
  const problem = stored.problem ? objectOf(stored.problem) : null;
  return {
    role,
    id,
    parent,
    at,
    text,
    askedAt: numberOf(stored.askedAt) ?? at,
    state: STATES.find((state) => state === stored.state) ?? 'stopped',
    model: textOf(stored.model) ?? '',
    finishReason: textOf(stored.finishReason),
    firstTokenMs: numberOf(stored.firstTokenMs),
    writingMs: numberOf(stored.writingMs),
    pauseMs: numberOf(stored.pauseMs),
    promptTokens: numberOf(stored.promptTokens),
    tokens: numberOf(stored.tokens),
    reasoningTokens: numberOf(stored.reasoningTokens),
    receiptId: textOf(stored.receiptId),
    salt: textOf(stored.salt),
    requestSha256: textOf(stored.requestSha256),
    segments: Array.isArray(stored.segments) ? stored.segments.flatMap((entry) => segmentOf(objectOf(entry))) : null,
    problem: problem && {
      code: textOf(problem.code) ?? 'failed',
      message: textOf(problem.message) ?? '',
      requestId: textOf(problem.requestId),
      retryAt: numberOf(problem.retryAt),
    },
  } satisfies Answer;
}

/** Checks types only; the service validates the values. */
function settingsOf(stored: Record<string, unknown>): Settings {
  const texts = TEXT_PARAMETERS.filter((name) => typeof stored[name] === 'string');
  const numbers = NUMBER_PARAMETERS.map(({ name }) => name).filter((name) => numberOf(stored[name]) !== null);
  return Object.fromEntries([...texts, ...numbers].map((name) => [name, stored[name]]));
}

const TEXT_PARAMETERS = ['model', 'system', 'stop'] as const;

const STATES = ['running', 'whole', 'stopped', 'broken'] as const;

function segmentOf({ worker, from, to }: Record<string, unknown>) {
  return typeof worker === 'string' && typeof from === 'number' && typeof to === 'number' ? [{ worker, from, to }] : [];
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
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
