// What is wrong with an answer without asking any model: text that its tokens do not read as, and ends that were too early.
import type { Vocabulary } from '@strata/engine';
import type { SeenAnswer } from './trust.ts';

/** Engines keep a place or two of their context free. */
const CONTEXT_SLACK = 16;
/** With a grammar an answer is brought to a close so many tokens before its limit, never before half of it. */
const CLOSING_TOKENS = 32;

type CutFacts = Pick<SeenAnswer, 'prompt' | 'answer' | 'maxTokens' | 'grammar' | 'reason' | 'contextLength'>;

/** Whether a worker said `length` where neither the limit nor the context was reached: what it cut short it calls finished. */
export function isCutShort(answer: CutFacts): boolean {
  if (answer.reason !== 'length') return false;
  const closing = answer.grammar === undefined ? 0 : Math.min(CLOSING_TOKENS, Math.floor(answer.maxTokens / 2));
  return answer.answer.length < answer.maxTokens - closing && !isContextFull(answer);
}

/** Whether the model itself ended the answer, so that its end is a draw that can be checked. */
export function hasDrawnEnd(answer: SeenAnswer): boolean {
  if (answer.reason === 'stop') return true;
  // With a grammar: brought to a close before the limit.
  const isClosed = answer.grammar !== undefined && answer.answer.length < answer.maxTokens;
  return answer.reason === 'length' && isClosed && !isContextFull(answer);
}

/** Whether the tokens of the worker's part read as it said: a client is shown the text, audits see the tokens. */
export async function isReadRight(answer: SeenAnswer, vocabulary: Pick<Vocabulary, 'detokenize'>): Promise<boolean> {
  const own = answer.answer.slice(answer.from);
  return (await vocabulary.detokenize(own)) === Buffer.from(answer.text).toString('utf8');
}

function isContextFull({ prompt, answer, contextLength }: CutFacts): boolean {
  return prompt.length + answer.length + CONTEXT_SLACK >= contextLength;
}
