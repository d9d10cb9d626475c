// Places for each key: never more than allowed, none lost to failures or to callers that leave.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KeyedSemaphore } from './semaphore.ts';

it('no more than the limit run for one key, other keys run on, and all finish', async () => {
  const limit = new KeyedSemaphore(2);
  const running: Record<string, number> = {};
  let most = 0;
  const work = (key: string) => async () => {
    running[key] = (running[key] ?? 0) + 1;
    most = Math.max(most, running[key]);
    await new Promise((done) => setImmediate(done));
    running[key] -= 1;
    return key;
  };
  const keys = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 'a' : 'b'));
  assert.deepEqual(await Promise.all(keys.map((key) => limit.run(key, work(key)))), keys);
  assert.deepEqual([most, limit.size], [2, 0]);
});

it('a failure gives its place back', async () => {
  const limit = new KeyedSemaphore(1);
  const fails = limit.run('a', () => Promise.reject(new Error('broken')));
  const next = limit.run('a', async () => 'next');
  await assert.rejects(fails, /broken/);
  assert.deepEqual([await next, limit.size], ['next', 0]);
});

it('who leaves the line never starts, and holds nobody up', async () => {
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
