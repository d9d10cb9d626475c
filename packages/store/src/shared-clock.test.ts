// Whose clock a store goes by.
import assert from 'node:assert/strict';
import { after, describe, it, mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from './index.ts';
import { binaries, notice, type PostgresServer, startPostgres } from './test/postgres.ts';

const YEARS_AGO = Date.parse('2020-01-01T00:00:00Z');
/** What a busy machine may take between two looks at one clock. */
const CLOSE_MS = 30_000;

describe('the clock of a store', () => {
  it('is this machine’s on SQLite', async () => {
    await using store = await openStore('sqlite::memory:');
    mock.timers.enable({ apis: ['Date'], now: YEARS_AGO });
    try {
      assert.equal(store.clock().getTime(), YEARS_AGO);
    } finally {
      mock.timers.reset();
    }
  });

  describe('on PostgreSQL', { skip: binaries ? false : notice }, async () => {
    const server: PostgresServer = await startPostgres();
    after(() => server[Symbol.asyncDispose]());

    it('is the server’s, whatever this machine’s says, and goes on while the server is away', async () => {
      const url = await server.fresh();
      const { rows } = await server.sql('select extract(epoch from clock_timestamp()) * 1000 as now');
      const now = Number(rows[0]?.now);
      mock.timers.enable({ apis: ['Date'], now: YEARS_AGO });
      try {
        await using store = await openStore(url);
        const at = () => store.clock().getTime();
        const first = at();
        assert.ok(first >= now - 1 && first < now + CLOSE_MS, `${first - now} ms from the server's`);
        mock.timers.setTime(YEARS_AGO * 2);
        assert.ok(at() - first < CLOSE_MS);
        const { id } = (await store.keys.create({ tier: 'free' })).stored;
        const created = await server.sql(
          `select created_at as at from api_keys where id = '${id}'`,
          new URL(url).pathname.slice(1),
        );
        assert.ok(Math.abs(Number(created.rows[0]?.at) - first) < CLOSE_MS, 'rows are dated by it');
        await server.kill();
        const [before, steady] = [at(), performance.now()];
        await delay(500);
        assert.ok(Math.abs(at() - before - (performance.now() - steady)) <= 100, 'as fast as the steady clock');
        await server.start();
      } finally {
        mock.timers.reset();
      }
    });
  });
});
