import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FairSlots, type FairSlotsOptions } from './fair-slots.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const full = { message: 'full' };
const shares = { high: 16, normal: 4, low: 1 } as const;
type Share = keyof typeof shares;

type Entry = readonly [name: string, share?: Share];

const open = (slots: number, queue: number, more: Partial<FairSlotsOptions> = {}) =>
  new FairSlots({ slots, queue, order: 'round-robin', refusal: (reason) => new Error(reason), ...more });

/** The names in the order in which they get the only slot; the key of each is its first letter. */
async function orderOf(slots: FairSlots, entries: readonly Entry[]): Promise<readonly string[]> {
  const order: string[] = [];
  const first = await slots.enter('first', never);
  const all = entries.map(async ([name, share = 'normal']) => {
    using _slot = await slots.enter(name.charAt(0), never, shares[share]);
    order.push(name);
    await settled();
  });
  assert.equal(slots.size, entries.length + 1);
  first[Symbol.dispose]();
  await Promise.all(all);
  assert.equal(slots.size, 0);
  return order;
}
const many = (count: number, ...entry: Entry): readonly Entry[] => Array.from({ length: count }, () => entry);

/** Enters under these names, each with its first letter as key; `log` has each name with "in" or "refused", in order. */
function entering(slots: FairSlots, signal = never) {
  const log: string[] = [];
  const held: Disposable[] = [];
  const enter = async (name: string, share: Share = 'normal') => {
    const entered = (slot: Disposable) => {
      log.push(`${name} in`);
      held.push(slot);
    };
    const refused = ({ message }: Error) =>
      void log.push(`${name} ${/full|evicted/.test(message) ? 'refused' : 'aborted'}`);
    void slots.enter(name.charAt(0), signal, shares[share]).then(entered, refused);
    await settled();
  };
  const release = async () => {
    held.shift()?.[Symbol.dispose]();
    await settled();
  };
  return { log, enter, release };
}

it('fair slots serve keys round-robin, each in FIFO order', async () => {
  const slots = open(1, 10);
  const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
  const expected = ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'];
  const entries = (share: Share) => names.map((name): Entry => [name, share]);
  for (const share of ['normal', 'high'] as const) assert.deepEqual(await orderOf(slots, entries(share)), expected);
  const mixed = await orderOf(slots, [...entries('high'), ['x', 'low']]);
  assert.equal(mixed.filter((name) => name !== 'x').join(), expected.join());
});

it('fair slots reject requests that could not even wait, by the current number of slots', async () => {
  const slots = open(1, 1);
  using _slot = await slots.enter('a', never);
  const waiting = new AbortController();
  const waits = slots.enter('a', waiting.signal);
  await assert.rejects(slots.enter('b', never), full);
  assert.throws(() => slots.check('b', 1), full);
  waiting.abort(new Error('disconnected'));
  await assert.rejects(waits, /disconnected/);
  slots.check('b', 1);
  assert.equal(slots.size, 1);
  const sized = open(4, 0);
  sized.check('a', 4);
  sized.resize(2);
  assert.throws(() => sized.check('a', 3), full);
  sized.resize(8);
  sized.check('a', 8);
});

it('fair slots evict the newest waiter of the longest queue for a key with a shorter one', async () => {
  const slots = open(1, 3);
  const { log, enter, release } = entering(slots);
  for (const name of ['a0', 'a1', 'a2', 'a3']) await enter(name);
  await enter('b');
  assert.equal(slots.size, 4);
  await enter('c');
  // One waiter each: no waiter is evicted.
  await enter('d');
  for (let i = 0; i < 4; i += 1) await release();
  assert.equal(log.join(), 'a0 in,a3 refused,a2 refused,d refused,a1 in,b in,c in');
  assert.equal(slots.size, 0);
});

it('fair slots release a slot once, and assign it to no aborted request', async () => {
  const slots = open(1, 5);
  const slot = await slots.enter('a', never);
  const leaving = new AbortController();
  const left = slots.enter('b', leaving.signal);
  const stays = slots.enter('c', never);
  leaving.abort(new Error('disconnected'));
  await assert.rejects(left);
  for (let i = 0; i < 2; i += 1) slot[Symbol.dispose]();
  (await stays)[Symbol.dispose]();
  assert.equal(slots.size, 0);
  await assert.rejects(slots.enter('a', leaving.signal), /disconnected/);
});

it('fair slots share slots between priorities, so that the lowest is served too', async () => {
  const entries = [...many(10, 'l', 'low'), ...many(100, 'n', 'normal'), ...many(100, 'h', 'high')];
  const order = await orderOf(open(1, 300), entries);
  const countOf = (key: string, until: number) => order.slice(0, until).filter((name) => name === key).length;
  const counts = (until: number) => ['h', 'n', 'l'].map((key) => countOf(key, until));
  assert.deepEqual([...counts(21), ...counts(105), order.length], [16, 4, 1, 80, 20, 5, 210]);
});

it('fair slots accumulate no credit for an idle priority', async () => {
  const slots = open(1, 300);
  await orderOf(slots, many(200, 'n', 'normal'));
  const mixed = Array.from({ length: 42 }, (_, i): Entry => (i % 2 ? ['l', 'low'] : ['n', 'normal']));
  const order = await orderOf(slots, mixed);
  assert.equal(order.slice(0, 10).filter((name) => name === 'l').length, 2);
});

it('fair slots measure queues relative to their priority’s share, and never evict the last waiter of a priority', async () => {
  const slots = open(1, 3);
  using _slot = await slots.enter('first', never);
  const leaving = new AbortController();
  const { log, enter } = entering(slots, leaving.signal);
  for (const name of ['1', '2', '3']) await enter(name);
  await enter('4', 'high');
  assert.deepEqual(log, ['1 refused'], 'one of the normal ones, since none was high');
  for (const name of ['5', '6']) await enter(name, 'high');
  assert.deepEqual(log.toSorted(), ['1 refused', '2 refused', '6 refused'], 'the last normal one stays');
  await enter('7', 'low');
  assert.deepEqual(log.slice(3), ['4 refused']);
  leaving.abort();
  await settled();
  assert.equal(slots.size, 1);
});

it('fair slots admit waiting requests when there are more slots, and evict none when there are fewer', async () => {
  const slots = open(1, 10);
  const { log, enter, release } = entering(slots);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await enter(name);
  assert.equal(log.join(), 'a in');
  slots.resize(3);
  await settled();
  assert.deepEqual([log.join(), slots.slots], ['a in,b in,c in', 3]);
  slots.resize(2);
  await release();
  assert.equal(log.length, 3);
  await release();
  assert.equal(log.join(), 'a in,b in,c in,d in');
  slots.resize(0);
  assert.equal(slots.slots, 1);
  for (let i = 0; i < 3; i += 1) await release();
  assert.deepEqual([log.at(-1), slots.size], ['e in', 0]);
});

it('fair slots give slots to the key that holds the fewest, and among equals in FIFO order', async () => {
  const { log, enter, release } = entering(open(2, 10, { order: 'fewest-held' }));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) await enter(name);
  for (let i = 0; i < 5; i += 1) await release();
  assert.equal(log.join(), 'a1 in,a2 in,b1 in,a3 in,b2 in,a4 in,c1 in');
});

it('fair slots report when the last slot is released, and each change', async () => {
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  const slots = open(1, 1, { onChange });
  const slot = await slots.enter('a', never);
  const empty = slots.empty(never).then(() => 'empty');
  assert.equal(await Promise.race([empty, settled()]), undefined);
  const before = changes;
  slot[Symbol.dispose]();
  await empty;
  await slots.empty(never);
  assert.ok(before > 0 && changes > before);
});

it('fair slots reject waiting and future entries when it is closed', async () => {
  const slots = open(1, 1);
  using _slot = await slots.enter('a', never);
  const waiting = assert.rejects(slots.enter('b', never), /stopping/);
  slots.close(new Error('stopping'));
  await waiting;
  await assert.rejects(slots.enter('c', never), /stopping/);
  assert.throws(() => slots.check('c', 1), /stopping/);
});
