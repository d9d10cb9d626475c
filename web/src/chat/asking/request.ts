// The request for a question, and an estimate of its tokens.
import type { ChatRequest } from '@strata/client';
import { type Conversation, pathOf, sentPart, type Turn } from '../conversation/conversation.ts';
import { requestParameters } from './parameters.ts';

/** Rough average for English text. */
const CHARACTERS_PER_TOKEN = 4;

/** The request for the last question of a conversation's path. */
export function requestOf(conversation: Conversation, model: string): ChatRequest {
  const { settings, sentFrom } = conversation;
  const messages = sentPart(pathOf(conversation), sentFrom)
    .filter(({ role, text }) => role === 'user' || text !== '')
    .map(({ role, text }) => ({ role, content: text }));
  const system = settings.system?.trim() ? [{ role: 'system' as const, content: settings.system }] : [];
  return {
    model,
    messages: [...system, ...messages],
    stream_options: { include_usage: true },
    ...requestParameters(settings),
  };
}

/** Estimated tokens: the count of the service for the last answer, plus an estimate for what follows. */
export function tokensOf(turns: readonly Turn[], more: string): number {
  const at = turns.findLastIndex((turn) => turn.role === 'assistant' && turn.promptTokens !== null);
  const counted = turns[at];
  const known = counted?.role === 'assistant' ? (counted.promptTokens ?? 0) + (counted.tokens ?? 0) : 0;
  const text = turns.slice(at + 1).reduce((all, turn) => all + turn.text.length, more.length);
  return known + Math.ceil(text / CHARACTERS_PER_TOKEN);
}
