import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newConversation, withTurn } from './conversation.ts';
import { requestOf, tokensOf } from './request.ts';
import { answer, question } from './test/turns.ts';

const first = withTurn(newConversation({}, 'Hi', 1), question('q1', null, 1, 'Hi'), 1);
const answered = withTurn(first, { ...answer('a1', 'q1', 2), text: 'Hello' }, 2);
const second = withTurn(answered, question('q2', 'a1', 3, 'And?'), 3);

describe('a request', () => {
  it('has the path, instructions and what was set, and nothing that was not', () => {
    const fixed = { model: 'm', stream_options: { include_usage: true } };
    const message = (role: string, content: string) => ({ role, content });
    const path = [message('user', 'Hi'), message('assistant', 'Hello'), message('user', 'And?')];
    assert.deepEqual(requestOf(second, 'm'), { ...fixed, messages: path });
    const settings = { system: 'Be short.', temperature: 0, maxTokens: 5, stop: '', seed: 1 };
    const messages = [message('system', 'Be short.'), message('user', 'And?')];
    const expected = { ...fixed, messages, temperature: 0, max_tokens: 5, seed: 1 };
    assert.deepEqual(requestOf({ ...second, settings, sentFrom: 'q2' }, 'm'), expected);
  });

  it('leaves out another version, and answers without a word', () => {
    const other = withTurn({ ...second, head: 'q1' }, { ...answer('a1b', 'q1', 5), text: '' }, 5);
    const third = withTurn(other, question('q3', 'a1b', 6, 'Well?'), 6);
    const texts = requestOf(third, 'm').messages.map(({ content }) => content);
    assert.deepEqual(texts, ['Hi', 'Well?']);
  });

  it('is about as long as what was counted last and a guess for the rest', () => {
    assert.equal(tokensOf([], ''), 0);
    assert.equal(tokensOf([question('q', null, 1, 'x'.repeat(40))], 'y'.repeat(8)), 12);
    assert.equal(tokensOf([question('q', null, 1), answer('a', 'q', 2), question('r', 'a', 3, 'x'.repeat(4))], ''), 15);
  });
});
