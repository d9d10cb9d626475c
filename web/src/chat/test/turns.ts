// Turns for tests.
import type { Answer, Question } from '../conversation.ts';

export const question = (id: string, parent: string | null, at: number, text = id): Question => {
  return { role: 'user', id, parent, at, text };
};

/** A complete one. */
export const answer = (id: string, parent: string, at: number): Answer => ({
  ...{ role: 'assistant', id, parent, askedAt: at, at, text: id, state: 'whole', model: 'm', finishReason: 'stop' },
  ...{ firstTokenMs: 10, writingMs: 100, pauseMs: 5, promptTokens: 3, tokens: 11, reasoningTokens: 0 },
  ...{ receiptId: 'rwr_1', requestSha256: null, segments: null, problem: null },
});
