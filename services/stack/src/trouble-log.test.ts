import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { followStore } from './follow-store.ts';
import { TroubleLog } from './trouble-log.ts';

/** A logger whose lines, without their times, can be looked at. */
function logging() {
  const lines: { level: number; msg: string; err?: unknown; failures?: number; seconds?: number; reason?: string }[] =
    [];
  const logger = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, logger };
}

describe('trouble that goes on', () => {
  it('is logged in full at first, then once a minute, and when it is over', () => {
    const { lines, logger } = logging();
    const clock = { ms: 5 };
    const log = new TroubleLog(logger, { what: 'reading', monotonicNow: () => clock.ms });
    log.well();
    for (let second = 0; second <= 130; second += 1) {
      log.failed(new Error('the database is gone'));
      clock.ms += 1_000;
    }
    log.well();
    log.well();
    log.failed(new Error('gone again'));
    const logged = lines.map(({ level, msg, failures, seconds, reason, err }) =>
      [level, msg, failures, seconds ?? reason, err ? 'with its error' : ''].join('|'),
    );
    assert.deepEqual(logged, [
      '50|reading failed: it is tried again|||with its error',
      '50|reading still fails|61|the database is gone|',
      '50|reading still fails|121|the database is gone|',
      '30|reading goes on|131|131|',
      '50|reading failed: it is tried again|||with its error',
    ]);
  });

  it('of who follows the store is two lines, however often it looked', async () => {
    const { lines, logger } = logging();
    const stop = new AbortController();
    let reads = 0;
    const heads = async () => {
      reads += 1;
      if (reads <= 3) throw new Error('the database is gone');
      return { events: 1 } as never;
    };
    const store = { heads };
    const beat = async () => stop.abort();
    await followStore({ store, logger, beat, sleep: async () => {} }, stop.signal);
    const what = 'looking for what other processes wrote';
    const logged = lines.map(({ msg, failures }) => `${msg} ${failures}`);
    assert.deepEqual(logged, [`${what} failed: it is tried again undefined`, `${what} goes on 3`]);
  });
});
