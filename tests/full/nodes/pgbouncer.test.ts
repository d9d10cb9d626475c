// Scanners behind Debian's PgBouncer in transaction mode, with the configuration in deploy/.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from '@strata/stack/store';
import { confirm, GOOGLE, scanOf } from '../../../services/stack/src/store/test/scans.ts';
import { isInstalled, startPooler } from '../../support/database/pgbouncer.ts';
import { binaries, notice, startPostgres } from '../../support/database/postgres.ts';

const [SCANNERS, CLAIMED, SERVER_CONNECTIONS] = [40, 8, 4];
const skip = isInstalled ? !binaries && notice : 'pgbouncer is not installed';

it('forty scanners share four connections of the server, and record each domain once', { skip }, async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const direct = await server.fresh();
  const url = await startPooler(stack, new URL(direct), SERVER_CONNECTIONS);
  const names = Array.from({ length: SCANNERS * CLAIMED * 2 }, (_, n) => `d${n}.com`);
  {
    await using store = await openStore(direct);
    await store.domains.add(names, { source: 'test' });
  }
  const now = new Date();
  let most = 0;
  const scan = async (number: number) => {
    await using store = await openStore(url, { poolSize: 2 });
    const lease = { holder: `s${number}`, leaseMs: 60_000 };
    for (;;) {
      const claimed = await store.work.claimDue({ ...lease, limit: CLAIMED }, now);
      if (claimed.length === 0) return;
      const scans = claimed.map((name) => scanOf(name, now.toISOString(), GOOGLE));
      const [recorded] = await Promise.all([store.recordScans(scans, confirm), store.work.renew(claimed, lease, now)]);
      assert.ok(recorded.every(({ status }) => status === 'fulfilled'));
      const { rows } = await server.sql("select 1 from pg_stat_activity where datname like 'test_%'");
      most = Math.max(most, rows.length);
    }
  };
  await Promise.all(Array.from({ length: SCANNERS }, (_, number) => scan(number)));
  assert.ok(most > 0 && most <= SERVER_CONNECTIONS, `${most} connections`);
  await using store = await openStore(direct);
  assert.partialDeepStrictEqual(await store.inspection.counts(), { scannedDomains: names.length, scans: names.length });
});
