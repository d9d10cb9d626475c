import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Conversation, newConversation, pathOf, withTurn } from './conversation.ts';
import { ConversationStore } from './conversation-store.ts';
import { answer, MemoryStorage, question } from './test/conversations.ts';

const asks = (store: ConversationStore, id: string, at: number, parent = 'a1') =>
  store.change('c', (one) => withTurn(one, question(id, parent, at), at));
const begin = (id = 'c'): Conversation => withTurn({ ...newConversation({}, 'Hi', 1), id }, question('q1', null, 1), 1);
const idsOf = (store: ConversationStore, id = 'c') => {
  const ids = (store.find(id)?.turns ?? []).map((turn) => turn.id);
  return ids.sort().join(' ');
};

/** Two tabs that both show a conversation of one question and one answer. */
function twoTabs() {
  const storage = new MemoryStorage();
  const first = storage.open(1);
  first.add(withTurn(begin(), answer('a1', 'q1', 2), 2));
  first.write();
  const second = storage.open(1);
  return { storage, first, second };
}

for (const isClosed of [false, true])
  it(`conversations of two tabs keep the questions of both, though one ${isClosed ? 'was closed' : 'had not received the other'}`, () => {
    const { storage, first, second } = twoTabs();
    asks(first, 'here', 10);
    if (isClosed) first.write();
    asks(second, 'there', 11);
    if (!isClosed) first.write();
    second.write();
    if (!isClosed) storage.settle();
    const stores = isClosed ? [] : [first, second];
    for (const store of [...stores, storage.open(12)]) assert.equal(idsOf(store), 'a1 here q1 there');
  });

it('conversations of two tabs keep an answer that is being written while the other tab renames, asks, or writes an older version of it', () => {
  const { storage, first, second } = twoTabs();
  const running = { ...answer('a2', 'q2', 20), state: 'running' as const, text: 'Ha' };
  first.change('c', (one) => withTurn(withTurn(one, question('q2', 'a1', 19), 19), running, 20));
  storage.settle();
  // The other tab writes its older state between two pieces of the answer.
  second.change('c', (one) => ({ ...one, title: 'Renamed', setAt: 21 }));
  first.changeAnswer('c', 'a2', (one) => ({ ...one, text: 'Half', at: 22 }));
  second.write();
  first.write();
  storage.settle();
  for (const store of [first, second]) {
    const last = pathOf(store.find('c') ?? begin()).at(-1);
    assert.ok(last?.role === 'assistant');
    assert.deepEqual([last.text, last.state, store.find('c')?.title], ['Half', 'running', 'Renamed']);
  }
});

it('conversations of two tabs are deleted in both when one deletes them, and a later answer is discarded', () => {
  const { storage, first, second } = twoTabs();
  second.remove(['c']);
  storage.settle();
  const isChanged = first.changeAnswer('c', 'a1', (one) => one);
  assert.deepEqual([first.find('c'), isChanged], [undefined, false]);
  storage.settle();
  assert.deepEqual(storage.texts, []);
});

it('conversations of two tabs stay deleted, although the other tab writes before it receives the deletion', () => {
  const { storage, first, second } = twoTabs();
  second.remove(['c']);
  first.changeAnswer('c', 'a1', (one) => ({ ...one, text: 'More', at: 9 }));
  first.write();
  assert.equal(first.find('c'), undefined);
  storage.settle();
  assert.deepEqual([storage.texts, second.all(), first.isPersisted()], [[], [], true]);
  first.add(begin());
  first.write();
  assert.equal(idsOf(storage.open(10)), 'q1', 'a new conversation with the same id is stored');
});

it('conversations of two tabs are read again after a period without storage events', () => {
  const { storage, first } = twoTabs();
  const frozen = storage.open(1);
  asks(first, 'late', 30);
  first.write();
  assert.equal(idsOf(frozen), 'a1 q1');
  frozen.refresh(31);
  assert.equal(idsOf(frozen), 'a1 late q1');
  first.remove(['c']);
  frozen.refresh(32);
  assert.equal(frozen.find('c'), undefined);
});

it('conversations of two tabs ignore foreign keys and invalid values', () => {
  const { first } = twoTabs();
  first.onStorageEvent('strata-theme', 'dark');
  first.onStorageEvent('strata-chat:c', '{');
  assert.equal(idsOf(first), 'a1 q1');
});

it('browser storage that is full reports it, continues, and reports when there is space again', () => {
  const { storage, first } = twoTabs();
  let notified = 0;
  first.subscribe(() => (notified += 1));
  storage.capacity = 0;
  asks(first, 'q2', 10);
  notified = 0;
  first.write();
  assert.deepEqual([first.isPersisted(), notified, idsOf(first)], [false, 1, 'a1 q1 q2']);
  storage.capacity = Number.POSITIVE_INFINITY;
  asks(first, 'q3', 11, 'q2');
  first.write();
  assert.deepEqual([first.isPersisted(), idsOf(storage.open(12))], [true, 'a1 q1 q2 q3']);
});

it('browser storage stores a conversation that did not fit once space is freed, without another change', () => {
  const { storage, first } = twoTabs();
  storage.capacity = storage.texts.join('').length + 50;
  first.add(begin('new'));
  first.write();
  assert.deepEqual([first.isPersisted(), storage.open(2).find('new')], [false, undefined]);
  first.remove(['c']);
  assert.deepEqual([first.isPersisted(), idsOf(storage.open(3), 'new')], [true, 'q1']);
});

it('without browser storage conversations are kept until the page is closed', () => {
  const store = new ConversationStore(undefined, 1);
  store.add(begin());
  store.write();
  assert.deepEqual([idsOf(store), store.isPersisted()], ['q1', false]);
});
