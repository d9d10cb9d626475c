// Time that passes only where a test says so: without real waits, a busy machine changes nothing.
import type { TestContext } from 'node:test';

/**
 * Stops `setTimeout` and `performance.now` until the end of the test; what is returned passes time. Called before anything sets a timer,
 * since real ones are no longer cleared. `until` waits as ever.
 */
export function stopTime({ mock }: TestContext): (ms: number) => void {
  let nowMs = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => nowMs);
  return (ms) => {
    nowMs += ms;
    mock.timers.tick(ms);
  };
}
