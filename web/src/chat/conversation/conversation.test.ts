import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as conversation from './conversation.ts';
import { isRunning, merged, pathOf, showing, versionsOf, withTurn } from './conversation.ts';
import { readConversation } from './stored-conversation.ts';
import { answer, question } from './test/conversations.ts';

const started = (turns: readonly conversation.Turn[], more: Partial<conversation.Conversation> = {}) => ({
  ...conversation.newConversation({}, 'Title', 1),
  ...{ id: 'c', turns, head: turns.at(-1)?.id ?? null },
  ...more,
});
const ids = (turns: readonly conversation.Turn[]) => turns.map(({ id }) => id).join(' ');

// Two questions; the first answer and the second question have a version each.
const first = [question('q1', null, 1), answer('a1', 'q1', 2), answer('a1b', 'q1', 5)];
const second = [question('q2', 'a1', 3), answer('a2', 'q2', 4), question('q2b', 'a1b', 6)];
const tree = started([...first, ...second], { head: 'a2' });

it('a conversation shows the path to its head, and follows the newest turns after a chosen version', () => {
  assert.deepEqual([ids(pathOf(tree)), ids(pathOf(showing(tree, 'a1b', 9)))], ['q1 a1 q2 a2', 'q1 a1b q2b']);
  assert.equal(ids(pathOf(showing(showing(tree, 'a1b', 9), 'a1', 10))), 'q1 a1 q2 a2');
  assert.equal(ids(versionsOf(tree, answer('a1b', 'q1', 5))), 'a1 a1b');
  assert.equal(ids(versionsOf(tree, question('q2', 'a1', 3))), 'q2');
  assert.deepEqual(pathOf(started([], { head: 'nowhere' })), []);
});

it('a conversation has no version for an empty attempt, unless it is shown', () => {
  const failed = { ...answer('a1c', 'q1', 7), state: 'broken' as const, text: '' };
  const tried = started([...tree.turns, failed]);
  assert.equal(ids(versionsOf(tried, answer('a1', 'q1', 2))), 'a1 a1b');
  assert.equal(ids(versionsOf(tried, failed)), 'a1 a1b a1c');
});

it('a conversation with a cycle of turns, in a damaged record, has a finite path', () => {
  const ring = started([question('q', 'a', 1), answer('a', 'q', 2)], { head: 'a' });
  assert.deepEqual([ids(pathOf(ring)), showing(ring, 'q', 3).head?.length], ['q a', 1]);
});

it('a conversation sends from the chosen turn, and everything if that turn is on another path', () => {
  const path = pathOf(tree);
  assert.equal(ids(conversation.sentPart(path, null)), 'q1 a1 q2 a2');
  assert.equal(ids(conversation.sentPart(path, 'q2')), 'q2 a2');
  assert.equal(ids(conversation.sentPart(path, 'q2b')), 'q1 a1 q2 a2');
});

it('a conversation runs while its path ends in an answer that is being written', () => {
  const running = withTurn(tree, { ...answer('a3', 'q2', 7), state: 'running' }, 7);
  assert.deepEqual([running, showing(running, 'a2', 8), tree].map(isRunning), [true, false, false]);
});

it('a conversation stops an answer whose page was closed, and resumes if the page turns out to be alive', () => {
  const runningAt = (at: number) =>
    started([question('q', null, 1), { ...answer('a', 'q', at), state: 'running', text: 'Ha' }]);
  const running = runningAt(1_000);
  assert.equal(conversation.settled(running, 60_000), running);
  const settled = conversation.settled(running, 100_000);
  assert.partialDeepStrictEqual(settled.turns[1], { role: 'assistant', state: 'stopped', text: 'Ha' });
  assert.equal(isRunning(merged(settled, runningAt(101_000))), true);
  assert.equal(isRunning(merged(settled, running)), false);
});

const ask = (of: conversation.Conversation, id: string, at: number) => withTurn(of, question(id, of.head, at), at);
const here = ask(tree, 'q3', 20);
const there = { ...ask(tree, 'q4', 21), title: 'Renamed', setAt: 22 };

it('two tabs with one conversation lose no turn, and merging is commutative and idempotent', () => {
  type Tree = conversation.Conversation;
  const sorted = (one: Tree) => ({ ...one, turns: one.turns.toSorted((a, b) => (a.id < b.id ? -1 : 1)) });
  const both = sorted(merged(here, there));
  assert.deepEqual(sorted(merged(there, here)), both);
  assert.deepEqual(sorted(merged(merged(here, there), here)), both);
  assert.equal(ids(both.turns), 'a1 a1b a2 q1 q2 q2b q3 q4');
  assert.deepEqual([both.title, both.head, both.changedAt], ['Renamed', 'q4', 21]);
  assert.equal(ids(versionsOf(both, question('q4', 'a2', 21))), 'q3 q4');
});

it('two tabs with one conversation keep the later version of each turn, and of equal times the finished one', () => {
  const state = (at: number, text: string, of: 'running' | 'whole' | 'stopped' = 'running') =>
    started([question('q', null, 1), { ...answer('a', 'q', at), text, state: of }]);
  for (const [one, other, text] of [
    [state(5, 'long text'), state(6, 'x'), 'x'],
    [state(5, 'long text'), state(5, 'x', 'whole'), 'x'],
    // A stop that arrived after the answer was complete.
    [state(9, 'x', 'stopped'), state(5, 'long text', 'whole'), 'long text'],
  ] as const)
    for (const both of [merged(one, other), merged(other, one)]) assert.equal(both.turns[1]?.text, text);
});

it('two tabs with one conversation detect missing turns in the other', () => {
  const both = merged(here, there);
  const isBehind = [here, there, both].map((one) => conversation.isBehind(one, both));
  assert.deepEqual(isBehind, [true, true, false]);
});

it('the list of conversations keeps the newest that fit, and always the first', () => {
  const big = (id: string, changedAt: number) =>
    started([question('q', null, 1, 'x'.repeat(2_000_000))], { id, changedAt });
  const kept = conversation.withinBounds(conversation.newestFirst([big('old', 1), big('new', 3), big('mid', 2)]));
  assert.equal(kept.map(({ id }) => id).join(), 'new');
  const many = Array.from({ length: 100 }, (_, i) => started([], { id: `${i}`, changedAt: i }));
  assert.equal(conversation.withinBounds(conversation.newestFirst(many)).length, 60);
  assert.equal(conversation.withinBounds([started([question('q', null, 1, 'x'.repeat(4_000_000))])]).length, 1);
});

it('the list of conversations titles a conversation by its first words, cut between characters', () => {
  assert.equal(conversation.titleOf('  What\n is\t this? '), 'What is this?');
  const long = conversation.titleOf('🐎'.repeat(40));
  assert.ok(long.length <= 60 && long.isWellFormed(), long);
});

it('a stored conversation is read as it was written', () => {
  const settings = { model: 'm', temperature: 0, system: 'Be kind.', stop: '\n' };
  const asked = withTurn(conversation.newConversation(settings, 'Hi', 5), question('q', null, 5), 5);
  const problem = { code: 'network', message: 'Offline.', requestId: null, retryAt: 7 };
  const segments = [{ worker: 'w', from: 0, to: 3 }];
  const complete = withTurn(asked, { ...answer('a', 'q', 6), problem, segments }, 6);
  assert.deepEqual(readConversation(JSON.stringify(complete)), complete);
});

it('a stored conversation of the earlier format, a list of turns, becomes a path', () => {
  const { parent: _p, at: _a, ...asked } = question('q1', null, 1);
  const { parent: _q, at: _b, ...answered } = answer('a1', 'q1', 2);
  const turns = [asked, answered, { role: 'user', id: 'q2', text: 'And?' }];
  const old = { id: 'c', title: 'Old', changedAt: 9, settings: { model: 'm' }, turns, sentFrom: 2 };
  const read = readConversation(JSON.stringify(old)) ?? assert.fail();
  assert.equal(ids(pathOf(read)), 'q1 a1 q2');
  assert.deepEqual([read.head, read.sentFrom, read.setAt], ['q2', 'q2', 9]);
  assert.equal(readConversation(JSON.stringify({ ...old, sentFrom: 0 }))?.sentFrom, null);
});

it('a stored conversation that is invalid is ignored, and invalid fields are dropped', () => {
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
