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

  it('refuses what could not even wait, and says when to come back', async () => {
    const admission = new Admission({ places: 1, queue: 1 });
    using _place = await admission.enter('a', never);
    const waiting = new AbortController();
    const waits = admission.enter('a', waiting.signal);
    const isOverloaded = (error: unknown) =>
      error instanceof CompletionError && error.kind === 'overloaded' && error.retryAfterMs === 1_000;
    await assert.rejects(admission.enter('b', never), isOverloaded);
    assert.throws(() => admission.check(1), isOverloaded);
    waiting.abort(new Error('gone'));
    await assert.rejects(waits, /gone/);
    admission.check(1);
    assert.equal(admission.size, 1);
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
