import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Engine, Job } from '@strata/engine';
import { type ChatDelta, OutputReader, openedBy, outputFormat } from '@strata/inference';
import { choiceDeltas } from './choice.ts';

const CONTROL = '<|tool_call|>';
const format = outputFormat(`<think></think> ${CONTROL}`);
const opened = openedBy('<assistant><think>\n', format);

/** `c3` is half a character. */
const bytesOf = (text: string) => Buffer.from(text, text === 'c3' ? 'hex' : 'utf8');

/** What a client receives of an answer whose tokens have these texts. */
async function answer(
  texts: readonly string[],
  { stops = [] as readonly string[], opening = '', isCallForced = false } = {},
) {
  const controls = new Map([[texts.indexOf(CONTROL), CONTROL]]);
  async function* generate() {
    for (const [token, text] of texts.entries())
      yield { kind: 'token', token, bytes: bytesOf(controls.has(token) ? '' : text), logprob: -1, top: [] };
    yield { kind: 'end', reason: 'stop' };
  }
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  const reader = () => new OutputReader(format, [{ name: 'f' }], { opening });
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
  const call = [' Wait', '.', CONTROL, '[{"name": "f", "argu', 'ments": {"a"', ': 1}}]'];
  const closed = openedBy('<think></think>\n', format);
  // A control token is never text, and a stop string ends only the content.
  for (const [texts, options, reasoningTokens, ...expected] of [
    [['Let', ' me', '\n', '</think>', '\n\n', 'Hi', '!'], { opening: opened }, 4, 'Hi!', 'Let me', '', 'Hi|!', 'stop'],
    [['a</', 'think>\n', 'think', '>'], { opening: opened }, 2, 'think>', 'a', '', 'think|>', 'stop'],
    [['A', ' b'], { opening: closed }, 0, 'A b', '', '', 'A| b', 'stop'],
    [call, {}, 0, ' Wait.', '', '{"a": 1}', ' Wait|.', 'tool_calls'],
    [call, { isCallForced: true }, 0, '', '', '{"a": 1}', '', 'tool_calls'],
    [['so ', 'c3', CONTROL, 'no'], {}, 0, 'so no', '', '', 'so |no', 'stop'],
    [['END', '</think>', 'c', ' END'], { stops: ['END'], opening: opened }, 2, 'c ', 'END', '', 'c| END', 'stop'],
    [['e', '</think>', ...call.slice(2)], { opening: opened, isCallForced: true }, 2, '', 'e', '{"a": 1}'],
  ] as const)
    assert.partialDeepStrictEqual(await answer(texts, options), [...expected, { reasoningTokens }]);
});
