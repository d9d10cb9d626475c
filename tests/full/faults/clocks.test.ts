// Clocks of single machines that jump by hours while they work: what is written, signed and counted goes by the database's clock, so
// that nothing is doubled, no quota begins anew, and no history stands still until a wrong time has come.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyAnswer } from '@strata/receipts';
import { openStore } from '@strata/store';
import { createInternet, type Internet } from '@strata/testnet';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import { Fleet, TWO_OF_EACH } from '../../support/fleet.ts';
import { startLoad } from '../../support/fleet-load.ts';
import { get } from '../../support/node-answers.ts';
import { testNodes, until } from '../../support/nodes.ts';

const DOMAINS = 60;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Past a midnight in either direction, and past the end of every lease. */
const JUMPS_MS = [5 * HOUR_MS, -30 * HOUR_MS, 0];
const CLOCK = path.join(import.meta.dirname, '../../support/shifted-clock.ts');

describe('processes whose clocks jump', { skip: binaries ? false : notice }, () => {
  let server: PostgresCluster;
  let internet: Internet;
  let directory: string;
  before(async () => {
    server = await postgresServer();
    internet = await createInternet({ domains: DOMAINS, hasFaults: false });
    directory = await mkdtemp(path.join(tmpdir(), 'strata-clocks-'));
  });
  after(async () => {
    await internet?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  it('work as if they did not', { timeout: 900_000 }, async () => {
    const databaseUrl = await server.fresh();
    const database = new URL(databaseUrl).pathname.slice(1);
    await using store = await openStore(databaseUrl, { poolSize: 3 });
    const scheduled = internet.domains().slice(0, DOMAINS / 2);
    const asked = internet.domains().slice(DOMAINS / 2);
    await store.addDomains(scheduled, { source: 'test' });
    await using nodes = await testNodes({ databaseUrl, domains: DOMAINS, isApiSeeing: true });
    const fileOf = (place: number) => path.join(directory, String(place));
    const own = (place: number) => ({ NODE_OPTIONS: `--import=${CLOCK}`, TEST_CLOCK_FILE: fileOf(place) });
    const fleet = new Fleet(nodes, { own });
    await fleet.startAll();
    const looks = () => server.sql('select count(*) as n from scans', database).then(({ rows }) => Number(rows[0]?.n));
    await until('all domains are scanned once', looks, (count) => count >= scheduled.length);

    const startedAt = Date.now();
    const load = await startLoad({ fleet, store, asked, freeKeys: 60 });
    try {
      for (const ms of JUMPS_MS) {
        // One of each role, and the other one the other way.
        await Promise.all(TWO_OF_EACH.map((_, place) => writeFile(fileOf(place), String(place % 2 ? -ms : ms))));
        // In each of them the new time has come.
        await delay(1_000);
        const before = await looks();
        await load.goesOn(20);
        await until('domains are scanned', looks, (count) => count > before + 10);
        for (const node of fleet.of('api')) await assertVerifies(node.base, load.key);
      }
    } finally {
      await load.stop();
    }
    console.log(await load.check(server, databaseUrl));

    const { rows: wrong } = await server.sql(
      `select 'scan' as what, observed_at as at from scans join domains on domains.id = domain_id
         where name <> 'moving.example' and observed_at not between ${startedAt - 5 * MINUTE_MS} and ${Date.now() + MINUTE_MS}
       union all select 'lease', until from scan_leases where until > ${Date.now() + 5 * MINUTE_MS}
       union all select 'event', published_us / 1000 from stream_events
         where published_us / 1000 not between ${startedAt - 5 * MINUTE_MS} and ${Date.now() + MINUTE_MS}`,
      database,
    );
    assert.deepEqual(wrong, [], 'all times are those of the database');
    for (const node of fleet.all())
      assert.doesNotMatch(node.log(), /leases of domains have run out|"level":[56]0/, node.role);
  });
});

/** A new answer, verified as a client does it. */
async function assertVerifies(base: string, key: string): Promise<void> {
  const ask = async (target: string) => JSON.parse((await get({ base }, target, key)).text);
  const body = await ask(`/stack/v1/search?limit=${1 + Math.floor(Math.random() * 900)}`);
  const keySet = await ask('/.well-known/stack-keys.json');
  const ledgerReceipt = await ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`);
  const { ok, steps } = await verifyAnswer(body, { keySet, ledgerReceipt });
  assert.ok(ok, JSON.stringify(steps.at(-1)));
}
