// Clocks of single machines that jump by hours while they work: what is written, signed and counted goes by the database's clock, so
// that nothing is doubled, no quota begins anew, and no history stands still until a wrong time has come.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyAnswer } from '@strata/receipts';
import { postgres, rows } from '../../../packages/store/src/test/places.ts';
import { startFleet, TWO_OF_EACH } from '../../support/fleet.ts';
import { startLoad } from '../../support/fleet-load.ts';
import { get } from '../../support/node-answers.ts';
import { randomFrom } from '../../support/random.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { untilAnswer } from '../../support/until.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Past a midnight in either direction, and past the end of every lease. */
const JUMPS_MS = [5 * HOUR_MS, -30 * HOUR_MS, 0];
const CLOCK = path.join(import.meta.dirname, '../../support/shifted-clock.ts');

describe('processes whose clocks jump', { skip: postgres.skip }, () => {
  it('work as if they did not', { timeout: 900_000 }, async () => {
    const databaseUrl = await postgres.fresh();
    await using directory = await temporaryDirectory();
    const fileOf = (slot: number) => path.join(directory.path, String(slot));
    const own = (slot: number) => ({ NODE_OPTIONS: `--import=${CLOCK}`, TEST_CLOCK_FILE: fileOf(slot) });
    await using place = await startFleet(databaseUrl, { own });
    const { fleet } = place;
    const looks = async () => Number((await rows(databaseUrl, 'select count(*) as n from scans'))[0]?.n);

    const startedAt = Date.now();
    const load = await startLoad(place, 60);
    try {
      for (const ms of JUMPS_MS) {
        // One of each role, and the other one the other way.
        await Promise.all(TWO_OF_EACH.map((_, slot) => writeFile(fileOf(slot), String(slot % 2 ? -ms : ms))));
        // Real: each process reads its time every 20 ms. One that reads it later is tested a little later.
        await delay(1_000);
        const before = await looks();
        await load.goesOn(20);
        await untilAnswer('domains are scanned', looks, (count) => count > before + 10);
        for (const node of fleet.all('api')) await assertVerifies(node.base, load.key);
      }
    } finally {
      await load.stop();
    }
    console.log(await load.check());

    const wrong = await rows(
      databaseUrl,
      `select 'scan' as what, observed_at as at from scans join domains on domains.id = domain_id
         where name <> 'moving.example' and observed_at not between ${startedAt - 5 * MINUTE_MS} and ${Date.now() + MINUTE_MS}
       union all select 'lease', until from scan_leases where until > ${Date.now() + 5 * MINUTE_MS}
       union all select 'event', published_us / 1000 from stream_events
         where published_us / 1000 not between ${startedAt - 5 * MINUTE_MS} and ${Date.now() + MINUTE_MS}`,
    );
    assert.deepEqual(wrong, [], 'all times are those of the database');
    for (const node of fleet.all())
      assert.doesNotMatch(node.log(), /leases of domains have run out|"level":[56]0/, node.role);
  });
});

const random = randomFrom(3);
/** A new answer, verified as a client does it. */
async function assertVerifies(base: string, key: string): Promise<void> {
  const ask = async (target: string) => JSON.parse((await get({ base }, target, key)).text);
  const body = await ask(`/stack/v1/search?limit=${1 + Math.floor(random() * 900)}`);
  const keySet = await ask('/.well-known/stack-keys.json');
  const ledgerReceipt = await ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`);
  const { ok, steps } = await verifyAnswer(body, { keySet, ledgerReceipt });
  assert.ok(ok, JSON.stringify(steps.at(-1)));
}
