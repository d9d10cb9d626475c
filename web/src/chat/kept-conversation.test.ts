import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newConversation, pathOf, withTurn } from './conversation.ts';
import { readConversation } from './kept-conversation.ts';
import { answer, question } from './test/turns.ts';

describe('a kept conversation', () => {
  it('is read as it was written', () => {
    const settings = { model: 'm', temperature: 0, system: 'Be kind.', stop: '\n' };
    const asked = withTurn(newConversation(settings, 'Hi', 5), question('q', null, 5), 5);
    const problem = { code: 'network', message: 'Gone.', requestId: null, retryAt: 7 };
    const segments = [{ worker: 'w', from: 0, to: 3 }];
    const whole = withTurn(asked, { ...answer('a', 'q', 6), problem, segments }, 6);
    assert.deepEqual(readConversation(JSON.stringify(whole)), whole);
  });

  it('of the earlier form, a list of turns, becomes a path', () => {
    const { parent: _p, at: _a, ...first } = question('q1', null, 1);
    const { parent: _q, at: _b, ...second } = answer('a1', 'q1', 2);
    const third = { role: 'user', id: 'q2', text: 'And?' };
    const turns = [first, second, third];
    const old = { id: 'c', title: 'Old', changedAt: 9, settings: { model: 'm' }, turns, sentFrom: 2 };
    const read = readConversation(JSON.stringify(old));
    assert.ok(read);
    const path = pathOf(read).map(({ id }) => id);
    assert.deepEqual(path, ['q1', 'a1', 'q2']);
    assert.deepEqual([read.head, read.sentFrom, read.setAt], ['q2', 'q2', 9]);
    assert.equal(readConversation(JSON.stringify({ ...old, sentFrom: 0 }))?.sentFrom, null);
  });

  it('that is none is none, and what is wrong in it is left out', () => {
    for (const text of ['', '{', 'null', '[]', '7', '{"id":7,"turns":[]}', '{"id":"c"}'])
      assert.equal(readConversation(text), undefined, text);
    const odd = [null, 7, {}, { role: 'user', id: 'q', text: 7 }, { role: 'robot', id: 'r', text: '' }];
    const part = { state: 'odd', segments: [{ worker: 7 }], problem: {} };
    const broken = { role: 'assistant', id: 'a', parent: 'q', text: 'x', ...part };
    const settings = { model: 7, system: {}, stop: null, temperature: 'hot', topP: 0.5, seed: [] };
    const read = readConversation(JSON.stringify({ id: 'c', settings, turns: [...odd, broken] }));
    assert.deepEqual(read?.settings, { topP: 0.5 });
    const [turn, ...more] = read?.turns ?? [];
    assert.ok(turn?.role === 'assistant' && more.length === 0);
    assert.deepEqual([turn.state, turn.tokens, turn.segments, turn.problem?.code], ['stopped', null, [], 'failed']);
  });
});
