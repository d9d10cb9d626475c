import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';

/** A limiter whose clock the test sets. */
function limiterAt(options: Omit<RateLimiterOptions, 'now'>) {
  const clock = { now: 0 };
  return { clock, limiter: new RateLimiter({ ...options, now: () => clock.now }) };
}

it('a bucket allows a burst, and then is refilled steadily, for each name alone', () => {
  const { clock, limiter } = limiterAt({ limit: 3, period: 1_500, refill: 'steady' });
  for (const step of ['a 0 3', 'b 0 3', 'a 1000 2', 'a 500 0', 'a 1000 0', 'a 60000 3']) {
    const [name = '', now, taken] = step.split(' ');
    clock.now = Number(now);
    const free = Array.from({ length: 10 }, () => limiter.take(name)).filter((wait) => wait === 0);
    assert.equal(free.length, Number(taken));
  }
});

it('a bucket never exceeds its size, can be overdrawn, and is not refilled when the clock is set back', () => {
  const { clock, limiter } = limiterAt({ limit: 10, period: 10, refill: 'steady' });
  clock.now = 1_000;
  assert.equal(limiter.take('a', 10), 0);
  clock.now = 500;
  assert.equal(limiter.take('a'), 1);
  clock.now = 1_000_000;
  assert.equal(limiter.state('a').left, 10);
  limiter.spend('a', 25);
  assert.deepEqual(limiter.state('a'), { left: -15, fullAfter: 25 });
  assert.equal(limiter.take('a'), 16);
});

it('a window is refilled at its end', () => {
  const { clock, limiter } = limiterAt({ limit: 10, period: 100, refill: 'window' });
  const times = [0, 99, 100];
  const moving = new RateLimiter({ limit: 1, period: 100, refill: 'window', now: () => times.shift() ?? 100 });
  assert.deepEqual([moving.take('a'), moving.take('a')], [0, 1], 'a wait is never 0, which would be an allowance');
  assert.deepEqual([limiter.take('a', 8), limiter.take('a', 3), limiter.take('a', 2)], [0, 100, 0]);
  clock.now = 99;
  assert.equal(limiter.take('a'), 1);
  clock.now = 100;
  assert.deepEqual([limiter.take('a', 11), limiter.take('a')], [0, 100], 'more than the limit, if all of it is left');
  assert.equal(limiter.take([{ name: 'b', times: 0 }]), 100, 'nothing of a limit of 0');
});

it('a limiter remembers a bounded number of names', () => {
  const { limiter } = limiterAt({ limit: 1, period: 1_000_000, refill: 'steady', maxNames: 2 });
  assert.equal([...'abacab'].filter((name) => limiter.take(name) === 0).join(''), 'abcb');
});
