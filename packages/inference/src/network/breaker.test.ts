import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterAsked, afterFailure, afterRefusal, afterSuccess, type Breaker, breakerState, CLOSED } from './breaker.ts';

const middle = () => 0.5;

describe('breaker', () => {
  it('waits twice as long after each failure in a row, and never longer than a minute and a half', () => {
    let breaker: Breaker = CLOSED;
    const pauses = Array.from({ length: 12 }, () => {
      const nowMs = breaker.openUntilMs;
      breaker = afterFailure(breaker, nowMs, middle);
      return breaker.openUntilMs - nowMs;
    });
    assert.deepEqual(pauses.slice(0, 5), [500, 1_000, 2_000, 4_000, 8_000]);
    assert.equal(pauses.at(-1), 60_000);
    for (let failures = 0; failures < 2_000; failures += 50)
      assert.ok(afterFailure({ ...CLOSED, failures }, 0, () => 0.999_999).openUntilMs <= 90_000);
  });

  it('takes twenty jobs lost together for one failure', () => {
    let breaker = CLOSED;
    for (let i = 0; i < 20; i++) breaker = afterFailure(breaker, 1_000 + i, middle);
    assert.deepEqual([breaker.failures, breaker.openUntilMs], [1, 1_500]);
    // A pause for another reason hides no failure.
    assert.equal(afterFailure(afterRefusal(CLOSED, 0, 250), 100, middle).failures, 1);
  });

  it('spreads its pauses, so that gateways do not come back together', () => {
    assert.equal(afterFailure(CLOSED, 0, () => 0).openUntilMs, 250);
    assert.equal(afterFailure(CLOSED, 0, () => 0.5).openUntilMs, 500);
  });

  it('lets one job through when the pause is over, and no second one before its outcome', () => {
    const failed = afterFailure(CLOSED, 0, middle);
    assert.equal(breakerState(failed, 499), 'open');
    assert.equal(breakerState(failed, 500), 'half-open');
    const probing = afterAsked(failed, 500);
    assert.equal(breakerState(probing, 501), 'open');
    assert.equal(breakerState(afterFailure(probing, 600, middle), 1_599), 'open');
    assert.equal(breakerState(CLOSED, 600), 'closed');
    // A probe whose client left is not the last one.
    assert.equal(breakerState(probing, 30_500), 'half-open');
  });

  it('does not hold back a worker that never failed', () => {
    assert.equal(afterAsked(CLOSED, 5), CLOSED);
    assert.equal(breakerState(afterAsked(CLOSED, 5), 5), 'closed');
  });

  it('counts a refusal as no failure', () => {
    const paused = afterRefusal(CLOSED, 1_000, 250);
    // Its other jobs may well end while it is leaving.
    assert.equal(afterSuccess(paused), paused);
    assert.equal(breakerState(paused, 1_249), 'open');
    assert.equal(breakerState(paused, 1_250), 'closed');
    const failed = afterFailure(CLOSED, 1_000, middle);
    assert.equal(afterRefusal(failed, 1_000, 250).openUntilMs, failed.openUntilMs);
    assert.equal(afterSuccess(failed), CLOSED);
  });
});
