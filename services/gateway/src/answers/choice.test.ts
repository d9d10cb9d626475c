import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Engine, Job } from '@strata/engine';
import { type ChatDelta, OutputReader, openedBy, outputFormat } from '@strata/inference';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { choiceDeltas } from './choice.ts';

const CONTROL = '<|tool_call|>';

/** `c3` is half a character. */
const bytesOf = (text: string) => Buffer.from(text, text === 'c3' ? 'hex' : 'utf8');

/** What a client receives of an answer whose tokens have these texts. */
async function answer(
  texts: readonly string[],
  {
    stops = [] as readonly string[],
    prompt = '',
    template = `<think></think> ${CONTROL}`,
    isCallForced = false,
    keepsReasoning = false,
  } = {},
) {
  const format = outputFormat(template);
  const controls = new Map([[texts.indexOf(CONTROL), CONTROL]]);
  async function* generate() {
    for (const [token, text] of texts.entries())
      yield { kind: 'token', token, bytes: bytesOf(controls.has(token) ? '' : text), logprob: -1, top: [] };
    yield { kind: 'end', reason: 'stop' };
  }
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  const reading = { opening: openedBy(prompt, format), keepsReasoning };
  const reader = () => new OutputReader(format, [{ name: 'f' }], reading);
  const deps = { usage, reader, signal: new AbortController().signal, context: {}, grammarParam: '' };
  const sent: ChatDelta[] = [];
  const job = { topLogprobs: 0 } as unknown as Job;
  const deltas = choiceDeltas({ generate } as unknown as Engine, job, { ...deps, stops, controls, isCallForced });
  for await (const each of deltas) sent.push(...each);
  const all = (kind: string) => sent.map((each) => (each.kind === kind && 'text' in each ? each.text : '')).join('');
  const tokens = sent.flatMap((each) => (each.kind === 'text' ? (each.logprobs ?? []) : [])).map(({ token }) => token);
  const last = sent.at(-1);
  const outputs = [all('text'), all('reasoning'), all('arguments'), tokens.join('|')];
  return [...outputs, last?.kind === 'end' && last.reason, usage];
}

it('reasoning and calls are separate from the text, its tokens and its usage', async () => {
  // A control token is never text, and a stop string ends only the content.
  type Case = [string[], Parameters<typeof answer>[1], number, ...unknown[]];
  const cases = casesOf<Case[]>('gateway', 'answers of tokens');
  for (const [texts, options, reasoningTokens, ...expected] of cases)
    assert.partialDeepStrictEqual(await answer(texts, options), [...expected, { reasoningTokens }]);
});
