// Slots per key: the limit holds, and neither failures nor aborted callers lose slots.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KeyedSemaphore } from './semaphore.ts';

it('no more than the limit run for one key, other keys run on, and all finish', async () => {
  const limit = new KeyedSemaphore(2);
  const running: Record<string, number> = {};
  let max = 0;
  const work = (key: string) => async () => {
    running[key] = (running[key] ?? 0) + 1;
    max = Math.max(max, running[key]);
    await new Promise((done) => setImmediate(done));
    running[key] -= 1;
    return key;
  };
  const keys = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 'a' : 'b'));
  assert.deepEqual(await Promise.all(keys.map((key) => limit.run(key, work(key)))), keys);
  assert.deepEqual([max, limit.size], [2, 0]);
});

it('a failure releases its slot', async () => {
  const limit = new KeyedSemaphore(1);
  const fails = limit.run('a', () => Promise.reject(new Error('broken')));
  const next = limit.run('a', async () => 'next');
  await assert.rejects(fails, /broken/);
  assert.deepEqual([await next, limit.size], ['next', 0]);
});

it('an aborted waiter never starts, and blocks no other caller', async () => {
  const limit = new KeyedSemaphore(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const notStarted = () => assert.fail('started after all');
  const first = limit.run('a', () => promise);
  const left = limit.run('a', notStarted, { signal: leaving.signal });
  const third = limit.run('a', async () => 'third', { signal: new AbortController().signal });
  leaving.abort(new Error('left'));
  await assert.rejects(left, /left/);
  resolve();
  await first;
  assert.equal(await third, 'third');
  await assert.rejects(limit.run('a', notStarted, { signal: leaving.signal }), /left/);
  assert.equal(limit.size, 0);
});
