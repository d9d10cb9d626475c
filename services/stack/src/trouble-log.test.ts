import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { followStore } from './follow-store.ts';
import { TroubleLog } from './trouble-log.ts';

/** A logger whose lines, without their times, can be looked at. */
function logging() {
  const lines: { level: number; msg: string; err?: unknown; failures?: number; seconds?: number; reason?: string }[] =
    [];
  return {
    lines,
    logger: createLogger({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  };
}

describe('trouble that goes on', () => {
  it('is told whole at first, then once a minute, and when it is over', () => {
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
    assert.deepEqual(
      lines.map(({ level, msg, failures, seconds, reason }) => [level, msg, failures, seconds ?? reason]),
      [
        [50, 'reading failed: it is tried again', undefined, undefined],
        [50, 'reading still fails', 61, 'the database is gone'],
        [50, 'reading still fails', 121, 'the database is gone'],
        [30, 'reading goes on', 131, 131],
        [50, 'reading failed: it is tried again', undefined, undefined],
      ],
    );
    assert.deepEqual(
      lines.map(({ err }) => err !== undefined),
      [true, false, false, false, true],
    );
  });

  it('of who follows the store is two lines, however often it looked', async () => {
    const { lines, logger } = logging();
    const heads = { events: 1 } as never;
    const stop = new AbortController();
    let looks = 0;
    const store = {
      heads: async () => {
        looks += 1;
        if (looks <= 3) throw new Error('the database is gone');
        return heads;
      },
    };
    const beat = async () => stop.abort();
    await followStore({ store, logger, beat, sleep: async () => {} }, stop.signal);
    assert.deepEqual(
      lines.map(({ msg, failures }) => [msg, failures]),
      [
        ['looking for what other processes wrote failed: it is tried again', undefined],
        ['looking for what other processes wrote goes on', 3],
      ],
    );
  });
});
