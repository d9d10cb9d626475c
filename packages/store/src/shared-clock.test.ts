// Whose clock a store uses. That it goes on while the server is down: postgres-server.full.test.ts.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { openStore } from './index.ts';
import { memory, onEach, postgres, rows } from './test/places.ts';

const YEARS_AGO = Date.parse('2020-01-01T00:00:00Z');
/** What a busy machine may take between two readings of one clock. */
const CLOSE_MS = 30_000;

onEach([memory, postgres], 'the clock of a store', (place, test) => {
  test('is this machine’s, or the server’s, whatever this machine’s says', async (_store, url) => {
    const query = 'select extract(epoch from clock_timestamp()) * 1000 as now';
    const [{ now } = { now: YEARS_AGO }] = place === postgres ? await rows(url, query) : [];
    mock.timers.enable({ apis: ['Date'], now: YEARS_AGO });
    try {
      await using store = await openStore(url);
      const at = () => store.clock().getTime();
      const first = at();
      const ahead = first - Number(now);
      assert.ok(ahead >= -1 && ahead < CLOSE_MS, `${ahead} ms ahead`);
      if (place === memory) return;
      mock.timers.setTime(YEARS_AGO * 2);
      assert.ok(at() - first < CLOSE_MS);
      await store.keys.create({ tier: 'free' });
      const [key] = await rows(url, 'select created_at as at from api_keys');
      assert.ok(Math.abs(Number(key?.at) - first) < CLOSE_MS, 'rows are dated by it');
    } finally {
      mock.timers.reset();
    }
  });
});
