import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompletionError } from '@strata/inference';
import { Admission } from './admission.ts';

const never = new AbortController().signal;

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

  it('lets more in when there are more places, and takes none away', async () => {
    const admission = new Admission({ places: 1, queue: 10 });
    const entered: string[] = [];
    const first = await admission.enter('a', never);
    const waits = ['b', 'c', 'd'].map(async (name) => {
      const place = await admission.enter(name, never);
      entered.push(name);
      return place;
    });
    admission.resize(3);
    const [b, c] = await Promise.all(waits.slice(0, 2));
    assert.deepEqual(entered, ['b', 'c']);
    admission.resize(1);
    first[Symbol.dispose]();
    b?.[Symbol.dispose]();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(entered, ['b', 'c']);
    c?.[Symbol.dispose]();
    using _last = await waits[2];
    assert.deepEqual(entered, ['b', 'c', 'd']);
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
});
