// Checks of an answer that need no model: premature ends.
import type { ObservedAnswer } from './trust.ts';

/** Engines keep a few positions of their context free. */
const CONTEXT_SLACK = 16;
/**
 * With a grammar, an answer is completed within this many tokens before its limit, at the earliest after half of it.
 */
const CLOSING_TOKENS = 32;

type CutFacts = Pick<ObservedAnswer, 'prompt' | 'answer' | 'maxTokens' | 'grammar' | 'reason' | 'contextLength'>;

/** Whether a worker reported `length` although neither the limit nor the context was reached. */
export function isCutShort(answer: CutFacts): boolean {
  if (answer.reason !== 'length') return false;
  const closing = answer.grammar === undefined ? 0 : Math.min(CLOSING_TOKENS, Math.floor(answer.maxTokens / 2));
  return answer.answer.length < answer.maxTokens - closing && !isContextFull(answer);
}

/** Whether the model itself ended the answer, so that its end can be checked like a token. */
export function hasDrawnEnd(answer: ObservedAnswer): boolean {
  if (answer.reason === 'stop') return true;
  // With a grammar: completed before the limit.
  const isClosed = answer.grammar !== undefined && answer.answer.length < answer.maxTokens;
  return answer.reason === 'length' && isClosed && !isContextFull(answer);
}

function isContextFull({ prompt, answer, contextLength }: CutFacts): boolean {
  return prompt.length + answer.length + CONTEXT_SLACK >= contextLength;
}
