import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { newConversation, withTurn } from '../conversation/conversation.ts';
import { answer, question } from '../conversation/test/conversations.ts';
import { NUMBER_PARAMETERS, parseParameter } from './parameters.ts';
import { requestOf, tokensOf } from './request.ts';
import { type SendConditions, sendActionOf, WAITING_MESSAGES } from './send-action.ts';

const first = withTurn(newConversation({}, 'Hi', 1), question('q1', null, 1, 'Hi'), 1);
const answered = withTurn(first, { ...answer('a1', 'q1', 2), text: 'Hello' }, 2);
const second = withTurn(answered, question('q2', 'a1', 3, 'And?'), 3);

it('a request has the path, the system prompt and only the parameters that were set', () => {
  const fixed = { model: 'm', stream_options: { include_usage: true } };
  const message = (role: string, content: string) => ({ role, content });
  const path = [message('user', 'Hi'), message('assistant', 'Hello'), message('user', 'And?')];
  assert.deepEqual(requestOf(second, 'm'), { ...fixed, messages: path });
  const settings = { system: 'Be short.', temperature: 0, maxTokens: 5, stop: '', seed: 1 };
  const messages = [message('system', 'Be short.'), message('user', 'And?')];
  const expected = { ...fixed, messages, temperature: 0, max_tokens: 5, seed: 1 };
  assert.deepEqual(requestOf({ ...second, settings, sentFrom: 'q2' }, 'm'), expected);
});

it('a request leaves out other versions and empty answers', () => {
  const other = withTurn({ ...second, head: 'q1' }, { ...answer('a1b', 'q1', 5), text: '' }, 5);
  const third = withTurn(other, question('q3', 'a1b', 6, 'Well?'), 6);
  const texts = requestOf(third, 'm').messages.map(({ content }) => content);
  assert.deepEqual(texts, ['Hi', 'Well?']);
});

it('a request is about as long as the last counted answer plus an estimate for the rest', () => {
  assert.deepEqual([tokensOf([], ''), tokensOf([question('q', null, 1, 'x'.repeat(40))], 'y'.repeat(8))], [0, 12]);
  assert.equal(tokensOf([question('q', null, 1), answer('a', 'q', 2), question('r', 'a', 3, 'x'.repeat(4))], ''), 15);
});

const parse = (name: string, text: string) => {
  const parameter = NUMBER_PARAMETERS.find((one) => one.name === name) ?? assert.fail(name);
  const parsed = parseParameter(parameter, text);
  return parsed.kind === 'value' ? parsed.value : parsed.kind;
};

for (const [name, outcomes] of casesOf<[string, Record<string, unknown>][]>('web', 'numbers of parameters'))
  for (const [text, outcome] of Object.entries(outcomes))
    it(`the parameter ${name} of '${text}' is ${outcome}`, () => assert.equal(parse(name, text), outcome));

const ready: SendConditions = { text: 'Hi', isOnline: true, hasKey: true, models: 'known', isAnswering: false };

for (const [what, state, outcome] of casesOf<[string, Partial<SendConditions>, string][]>('web', 'send actions'))
  it(`Enter ${what}`, () => {
    const action = sendActionOf({ ...ready, ...state });
    assert.equal(action, outcome);
    if (action !== 'send' && action !== 'nothing') assert.match(WAITING_MESSAGES[action], /^Queued: sent/);
  });
