import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompletionError } from '@strata/inference';
import type { Priority } from '@strata/store';
import { Admission } from './admission.ts';

const never = new AbortController().signal;

/** Everyone who comes in, in order: each leaves before the next one is let in. */
async function orderOf(admission: Admission, wanted: readonly (readonly [key: string, priority: Priority])[]) {
  const order: string[] = [];
  const first = await admission.enter('first', never);
  const all = wanted.map(async ([key, priority]) => {
    using _place = await admission.enter(key, never, priority);
    order.push(key);
    await new Promise((resolve) => setImmediate(resolve));
  });
  first[Symbol.dispose]();
  await Promise.all(all);
  return order;
}

describe('admission', () => {
  it('lets keys take turns, each in its own order', async () => {
    const admission = new Admission({ places: 1, queue: 10 });
    const first = await admission.enter('a', never);
    const order: string[] = [];
    const wanted = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(async (name) => {
      using _place = await admission.enter(name.charAt(0), never);
      order.push(name);
      await new Promise((resolve) => setImmediate(resolve));
    });
    assert.equal(admission.size, 7);
    first[Symbol.dispose]();
    await Promise.all(wanted);
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    assert.equal(admission.size, 0);
  });

  it('refuses what could not even wait, and says when to come back', async () => {
    const admission = new Admission({ places: 1, queue: 1 });
    using _place = await admission.enter('a', never);
    const waiting = new AbortController();
    const waits = admission.enter('a', waiting.signal);
    const isOverloaded = (error: unknown) =>
      error instanceof CompletionError && error.kind === 'overloaded' && error.retryAfterMs === 1_000;
    await assert.rejects(admission.enter('b', never), isOverloaded);
    assert.throws(() => admission.check('b', 1), isOverloaded);
    waiting.abort(new Error('gone'));
    await assert.rejects(waits, /gone/);
    admission.check('b', 1);
    assert.equal(admission.size, 1);
  });

  it('lets a short line in where a long one fills the queue: the newest of that one is refused', async () => {
    const admission = new Admission({ places: 1, queue: 3 });
    const first = await admission.enter('a', never);
    const long = ['a1', 'a2', 'a3'].map((name) =>
      admission.enter('a', never).then(
        (place) => ({ name, place }),
        (error: unknown) => ({ name, error }),
      ),
    );
    const other = admission.enter('b', never);
    assert.equal(admission.size, 4);
    const refused = await long[2];
    assert.ok(refused && 'error' in refused && refused.error instanceof CompletionError);
    const third = admission.enter('c', never);
    const alsoRefused = await long[1];
    assert.ok(alsoRefused && 'error' in alsoRefused);
    // One each: nobody gives way any more.
    await assert.rejects(admission.enter('d', never), CompletionError);
    first[Symbol.dispose]();
    const a1 = await long[0];
    assert.ok(a1 && 'place' in a1);
    a1.place[Symbol.dispose]();
    (await other)[Symbol.dispose]();
    (await third)[Symbol.dispose]();
    assert.equal(admission.size, 0);
  });

  it('gives a place back once, and to nobody who has left', async () => {
    const admission = new Admission({ places: 1, queue: 5 });
    const place = await admission.enter('a', never);
    const leaving = new AbortController();
    const left = admission.enter('b', leaving.signal);
    const stays = admission.enter('c', never);
    leaving.abort(new Error('gone'));
    await assert.rejects(left);
    place[Symbol.dispose]();
    place[Symbol.dispose]();
    (await stays)[Symbol.dispose]();
    assert.equal(admission.size, 0);
    await assert.rejects(admission.enter('a', leaving.signal), /gone/);
  });

  it('shares places between priorities, so that the lowest comes too', async () => {
    const of = (priority: Priority, count: number) =>
      Array.from({ length: count }, () => [priority, priority] as const);
    const wanted = [...of('low', 10), ...of('normal', 100), ...of('high', 100)];
    const order = await orderOf(new Admission({ places: 1, queue: 300 }), wanted);
    const count = (priority: Priority, until: number) => order.slice(0, until).filter((key) => key === priority).length;
    assert.deepEqual([count('high', 21), count('normal', 21), count('low', 21)], [16, 4, 1]);
    assert.deepEqual([count('high', 105), count('normal', 105), count('low', 105)], [80, 20, 5]);
    assert.equal(order.length, 210);
  });

  it('lets keys of one priority take turns among themselves', async () => {
    const wanted = ['a', 'a', 'a', 'b', 'b', 'c'].map((key) => [key, 'high'] as const);
    const order = await orderOf(new Admission({ places: 1, queue: 10 }), [...wanted, ['x', 'low']]);
    assert.deepEqual(
      order.filter((key) => key !== 'x'),
      ['a', 'b', 'c', 'a', 'b', 'a'],
    );
  });

  it('saves up no places for a priority of which nobody waited', async () => {
    const admission = new Admission({ places: 1, queue: 300 });
    await orderOf(
      admission,
      Array.from({ length: 200 }, () => ['n', 'normal'] as const),
    );
    const mixed = Array.from({ length: 42 }, (_, i) => (i % 2 ? (['l', 'low'] as const) : (['n', 'normal'] as const)));
    const order = await orderOf(admission, mixed);
    assert.equal(order.slice(0, 10).filter((key) => key === 'l').length, 2);
  });

  it('measures lines by the share of their priority when one has to give way, and leaves one of each', async () => {
    const admission = new Admission({ places: 1, queue: 3 });
    using _place = await admission.enter('first', never);
    const outcomes: string[] = [];
    const leaving = new AbortController();
    const wait = (key: string, priority: Priority) =>
      admission.enter(key, leaving.signal, priority).catch((error: unknown) => {
        if (error instanceof CompletionError) outcomes.push(`${key} refused`);
      });
    const waiting = [wait('n1', 'normal'), wait('n2', 'normal'), wait('n3', 'normal'), wait('h1', 'high')];
    await new Promise((resolve) => setImmediate(resolve));
    // Nobody high waited: one of the normal ones gave way. Another high one pushes out another normal one, and then the last is safe.
    assert.deepEqual(outcomes, ['n1 refused']);
    waiting.push(wait('h2', 'high'), wait('h3', 'high'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(outcomes.toSorted(), ['h3 refused', 'n1 refused', 'n2 refused']);
    waiting.push(wait('l1', 'low'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(outcomes.slice(3), ['h1 refused']);
    leaving.abort();
    await Promise.all(waiting);
    assert.equal(admission.size, 1);
  });

  it('lets those in who wait when there are more places, and sends nobody away when there are fewer', async () => {
    const admission = new Admission({ places: 1, queue: 10 });
    const entered: string[] = [];
    const places: Disposable[] = [];
    const all = ['a', 'b', 'c', 'd', 'e'].map(async (key) => {
      places.push(await admission.enter(key, never));
      entered.push(key);
    });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    await settled();
    assert.deepEqual(entered, ['a']);
    admission.resize(3);
    await settled();
    assert.deepEqual([entered, admission.places], [['a', 'b', 'c'], 3]);
    admission.resize(2);
    places.shift()?.[Symbol.dispose]();
    await settled();
    assert.equal(entered.length, 3);
    places.shift()?.[Symbol.dispose]();
    await settled();
    assert.deepEqual(entered, ['a', 'b', 'c', 'd']);
    admission.resize(0);
    assert.equal(admission.places, 1);
    while (places.length > 0) {
      places.shift()?.[Symbol.dispose]();
      await settled();
    }
    await Promise.all(all);
    assert.equal(admission.size, 0);
  });

  it('goes by the places that there are now when it refuses', async () => {
    const admission = new Admission({ places: 4, queue: 0 });
    admission.check('a', 4);
    admission.resize(2);
    assert.throws(() => admission.check('a', 3), CompletionError);
    admission.resize(8);
    admission.check('a', 8);
  });
});
