import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AnswerAccumulator, MAX_LOGPROBS } from './answer-accumulator.ts';

it('an answer that is not streamed keeps a limited number of log-probabilities, of all choices together', () => {
  const kept = new AnswerAccumulator(2, { keepsLogprobs: true });
  const chosen = { token: 'a', logprob: 0, bytes: [], top_logprobs: Array(MAX_LOGPROBS / 2) };
  const take = (choice: number) => kept.take(choice, { kind: 'text', text: 'a', logprobs: [chosen] });
  take(0);
  assert.throws(() => take(1), { name: 'CompletionError', kind: 'unsupported_value', param: 'logprobs' });
});
