import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Priority } from '@strata/db';
import { Admission } from './admission.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const overloaded = { name: 'CompletionError', kind: 'overloaded', retryAfterMs: 1_000 };

type Entry = readonly [name: string, priority?: Priority];

/** The names in the order in which they get the only slot; the key of each is its first letter. */
async function orderOf(admission: Admission, entries: readonly Entry[]): Promise<readonly string[]> {
  const order: string[] = [];
  const first = await admission.enter('first', never);
  const all = entries.map(async ([name, priority = 'normal']) => {
    using _slot = await admission.enter(name.charAt(0), never, priority);
    order.push(name);
    await settled();
  });
  assert.equal(admission.size, entries.length + 1);
  first[Symbol.dispose]();
  await Promise.all(all);
  assert.equal(admission.size, 0);
  return order;
}
const many = (count: number, ...entry: Entry): readonly Entry[] => Array.from({ length: count }, () => entry);

/** Enters under these names, each with its first letter as key; `log` has each name with "in" or "refused", in order. */
function entering(admission: Admission, signal = never) {
  const log: string[] = [];
  const held: Disposable[] = [];
  const enter = async (name: string, priority: Priority = 'normal') => {
    const entered = (slot: Disposable) => {
      log.push(`${name} in`);
      held.push(slot);
    };
    const refused = (error: { kind?: string }) => void log.push(`${name} ${error.kind ? 'refused' : 'aborted'}`);
    void admission.enter(name.charAt(0), signal, priority).then(entered, refused);
    await settled();
  };
  const release = async () => {
    held.shift()?.[Symbol.dispose]();
    await settled();
  };
  return { log, enter, release };
}

describe('admission', () => {
  it('serves keys round-robin, each in FIFO order', async () => {
    const admission = new Admission({ slots: 1, queue: 10 });
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    const expected = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'];
    const entries = (priority: Priority) => names.map((name): Entry => [name, priority]);
    for (const priority of ['normal', 'high'] as const)
      assert.deepEqual(await orderOf(admission, entries(priority)), expected);
    const mixed = await orderOf(admission, [...entries('high'), ['x', 'low']]);
    assert.equal(mixed.filter((name) => name !== 'x').join(), expected.join());
  });

  it('rejects requests that could not even wait, by the current number of slots, with a retry time', async () => {
    const admission = new Admission({ slots: 1, queue: 1 });
    using _slot = await admission.enter('a', never);
    const waiting = new AbortController();
    const waits = admission.enter('a', waiting.signal);
    await assert.rejects(admission.enter('b', never), overloaded);
    assert.throws(() => admission.check('b', 1), overloaded);
    waiting.abort(new Error('disconnected'));
    await assert.rejects(waits, /disconnected/);
    admission.check('b', 1);
    assert.equal(admission.size, 1);
    const sized = new Admission({ slots: 4, queue: 0 });
    sized.check('a', 4);
    sized.resize(2);
    assert.throws(() => sized.check('a', 3), overloaded);
    sized.resize(8);
    sized.check('a', 8);
  });

  it('evicts the newest waiter of the longest queue for a key with a shorter one', async () => {
    const admission = new Admission({ slots: 1, queue: 3 });
    const { log, enter, release } = entering(admission);
    for (const name of ['a0', 'a1', 'a2', 'a3']) await enter(name);
    await enter('b');
    assert.equal(admission.size, 4);
    await enter('c');
    // One waiter each: no waiter is evicted.
    await enter('d');
    for (let i = 0; i < 4; i += 1) await release();
    assert.equal(log.join(), 'a0 in,a3 refused,a2 refused,d refused,a1 in,b in,c in');
    assert.equal(admission.size, 0);
  });

  it('releases a slot once, and assigns it to no aborted request', async () => {
    const admission = new Admission({ slots: 1, queue: 5 });
    const slot = await admission.enter('a', never);
    const leaving = new AbortController();
    const left = admission.enter('b', leaving.signal);
    const stays = admission.enter('c', never);
    leaving.abort(new Error('disconnected'));
    await assert.rejects(left);
    for (let i = 0; i < 2; i += 1) slot[Symbol.dispose]();
    (await stays)[Symbol.dispose]();
    assert.equal(admission.size, 0);
    await assert.rejects(admission.enter('a', leaving.signal), /disconnected/);
  });

  it('shares slots between priorities, so that the lowest is served too', async () => {
    const entries = [...many(10, 'l', 'low'), ...many(100, 'n', 'normal'), ...many(100, 'h', 'high')];
    const order = await orderOf(new Admission({ slots: 1, queue: 300 }), entries);
    const countOf = (key: string, until: number) => order.slice(0, until).filter((name) => name === key).length;
    const counts = (until: number) => ['h', 'n', 'l'].map((key) => countOf(key, until));
    assert.deepEqual([...counts(21), ...counts(105), order.length], [16, 4, 1, 80, 20, 5, 210]);
  });

  it('accumulates no credit for an idle priority', async () => {
    const admission = new Admission({ slots: 1, queue: 300 });
    await orderOf(admission, many(200, 'n', 'normal'));
    const mixed = Array.from({ length: 42 }, (_, i): Entry => (i % 2 ? ['l', 'low'] : ['n', 'normal']));
    const order = await orderOf(admission, mixed);
    assert.equal(order.slice(0, 10).filter((name) => name === 'l').length, 2);
  });

  it('measures queues relative to their priority’s share, and never evicts the last waiter of a priority', async () => {
    const admission = new Admission({ slots: 1, queue: 3 });
    using _slot = await admission.enter('first', never);
    const leaving = new AbortController();
    const { log, enter } = entering(admission, leaving.signal);
    for (const name of ['1', '2', '3']) await enter(name);
    await enter('4', 'high');
    assert.deepEqual(log, ['1 refused'], 'one of the normal ones, since none was high');
    for (const name of ['5', '6']) await enter(name, 'high');
    assert.deepEqual(log.toSorted(), ['1 refused', '2 refused', '6 refused'], 'the last normal one stays');
    await enter('7', 'low');
    assert.deepEqual(log.slice(3), ['4 refused']);
    leaving.abort();
    await settled();
    assert.equal(admission.size, 1);
  });

  it('admits waiting requests when there are more slots, and evicts none when there are fewer', async () => {
    const admission = new Admission({ slots: 1, queue: 10 });
    const { log, enter, release } = entering(admission);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await enter(name);
    assert.equal(log.join(), 'a in');
    admission.resize(3);
    await settled();
    assert.deepEqual([log.join(), admission.slots], ['a in,b in,c in', 3]);
    admission.resize(2);
    await release();
    assert.equal(log.length, 3);
    await release();
    assert.equal(log.join(), 'a in,b in,c in,d in');
    admission.resize(0);
    assert.equal(admission.slots, 1);
    for (let i = 0; i < 3; i += 1) await release();
    assert.deepEqual([log.at(-1), admission.size], ['e in', 0]);
  });
});
