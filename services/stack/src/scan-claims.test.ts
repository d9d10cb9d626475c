import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStore, type Store } from '@strata/store';
import pino from 'pino';
import { until } from '../../../tests/support/until.ts';
import { ScanClaims } from './scan-claims.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const LEASE_MS = 300;

async function open() {
  const store = await openStore('sqlite::memory:');
  await store.addDomains(['a.com', 'b.com', 'c.com', 'd.com'], { source: 'test' });
  const clock = { at: T0 };
  const log: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void log.push(line) });
  const parts = { store, logger, now: () => new Date(clock.at) };
  const claims = new ScanClaims(parts, { limit: 3, leaseMs: LEASE_MS });
  return { store, clock, log, claims, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

const leasedAt = async (store: Store, at: number) => (await store.work.progress(new Date(at))).leased;

describe('the share of the schedule that a process has', () => {
  it('stays its own for as long as it works on it', async () => {
    await using opened = await open();
    const { store, clock, claims } = opened;
    const running = new AbortController();
    assert.equal(await claims.take(running.signal), 'a.com');
    assert.equal(await leasedAt(store, T0 + LEASE_MS), 0);
    clock.at = T0 + LEASE_MS - 1;
    await until(async () => (await leasedAt(store, T0 + LEASE_MS)) === 3);
    // What has ended is held no longer.
    claims.end('a.com');
    clock.at = T0 + 2 * LEASE_MS;
    await until(async () => (await leasedAt(store, T0 + 2 * LEASE_MS)) === 2);
    await claims[Symbol.asyncDispose]();
  });

  it('is given back when it stops: what was not begun at once, and the rest with its end', async () => {
    await using opened = await open();
    const { store, claims } = opened;
    const running = new AbortController();
    await claims.take(running.signal);
    assert.equal(await leasedAt(store, T0), 3);
    running.abort();
    await claims.stop();
    assert.equal(await leasedAt(store, T0), 1);
    assert.equal(await claims.take(running.signal), undefined);
    await claims[Symbol.asyncDispose]();
    assert.equal(await leasedAt(store, T0), 0);
  });

  it('is begun no more where another process has it, and that is told', async () => {
    await using opened = await open();
    const { store, log, claims } = opened;
    const running = new AbortController();
    await claims.take(running.signal);
    const other = { holder: 'other', limit: 8, leaseMs: 60_000 };
    assert.equal((await store.work.claimDue(other, new Date(T0 + LEASE_MS))).length, 4);
    await until(() => log.length > 0);
    assert.deepEqual(JSON.parse(log[0] ?? '').overrun, ['a.com']);
    await store.work.release('other', ['d.com']);
    assert.equal(await claims.take(running.signal), 'd.com', 'and not what stood in the queue');
    await claims[Symbol.asyncDispose]();
    assert.equal(await leasedAt(store, T0 + LEASE_MS), 3, 'others keep theirs');
  });

  it('does not come back at once with what is not to be scanned', async () => {
    await using opened = await open();
    const { store, claims } = opened;
    claims.putOff((await claims.take(new AbortController().signal)) ?? '');
    await claims[Symbol.asyncDispose]();
    assert.deepEqual(await store.due(new Date(T0), 5), ['b.com', 'c.com', 'd.com']);
  });
});
