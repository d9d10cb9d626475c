// Counts how often work waits for a PostgreSQL server, and what it sends while it holds the lock of the writers.
import { mock } from 'node:test';
import { LOCK_WRITERS, SHARE_WRITERS, STARTED_AT } from '@strata/db';
import pg from 'pg';

export interface Traffic {
  /** Round trips, and how many of them began while the process held the lock. */
  readonly trips: readonly [trips: number, underLock: number];
  /** Characters of values sent with the lock or after it. */
  readonly sentUnderLock: number;
}

export async function trafficOf(work: () => Promise<unknown>): Promise<Traffic> {
  const query = pg.Client.prototype.query as (this: pg.Client, config: pg.QueryConfig) => Promise<unknown>;
  const sent = new Map<pg.Client, number>();
  const holding = new Set<pg.Client>();
  let [trips, underLock, sentUnderLock] = [0, 0, 0];
  const counting = mock.method(pg.Client.prototype, 'query', async function (this: pg.Client, config: pg.QueryConfig) {
    // Whether the work opens a connection depends on those that are idle.
    if (config.text.includes(STARTED_AT)) return query.call(this, config);
    const before = sent.get(this) ?? 0;
    if (before === 0) trips += 1;
    if (before === 0 && holding.has(this)) underLock += 1;
    sent.set(this, before + 1);
    if (config.text.endsWith(LOCK_WRITERS) || config.text === SHARE_WRITERS) holding.add(this);
    if (holding.has(this)) sentUnderLock += JSON.stringify(config.values ?? []).length;
    try {
      return await query.call(this, config);
    } finally {
      sent.set(this, (sent.get(this) ?? 0) - 1);
      if (/^(commit|rollback)/.test(config.text)) holding.delete(this);
    }
  });
  try {
    await work();
  } finally {
    counting.mock.restore();
  }
  return { trips: [trips, underLock], sentUnderLock };
}
