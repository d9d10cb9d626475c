// The export into ClickHouse, in process: after kills at random moments every table has what the store has.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '@strata/analytics';
import { openClickHouse, removeTables } from '@strata/analytics-clickhouse';
import { randomFrom } from '../../../../tests/support/random.ts';
import { rulebook } from '../../../../tests/support/rulebook.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openStore, type Store } from '../store/index.ts';
import { confirm, GOOGLE, MICROSOFT, scanOf, withServer, withTxt } from '../store/test/scans.ts';
import { Exporting } from './exporting.ts';
import { checkTables } from './test/check-tables.ts';

const name = 'chdb/connection';
const isInstalled = await import(name).then(
  () => true,
  () => false,
);
const skip = isInstalled ? false : 'ClickHouse in process is not installed: npm run engine:clickhouse';
const program = path.join(import.meta.dirname, 'test/export-process.ts');

/** Within the time for which migrations are kept. */
const FIRST_DAY = Math.floor(Date.now() / DAY_MS) - 40;
const day = (n: number) => new Date((FIRST_DAY + n) * DAY_MS).toISOString();

/** Domains move, change their records, cannot be measured, are removed and come back. */
function worldOf(store: Store, seed: number) {
  const next = randomFrom(seed);
  const random = (below: number) => Math.floor(next() * below);
  let today = 0;
  return async () => {
    today += 1;
    const scans = Array.from({ length: 30 + random(30) }, () => {
      const plain = scanOf(
        `d${random(90)}.${['com', 'de'][random(2)]}`,
        day(today),
        [GOOGLE, MICROSOFT][random(2)] ?? null,
      );
      const scan = random(3) === 0 ? withTxt(plain, [['v=spf1 -all', 'MS=ms1'], []][random(2)] ?? []) : plain;
      if (random(9) === 0) return { ...scan, profile: { ...scan.profile, state: 'unmeasured' as const, services: [] } };
      return random(4) === 0 ? withServer(scan, `nginx/1.${random(3)}.0`) : scan;
    });
    await store.recordScans(scans, confirm);
    const [before, now] = [new Date('2100-01-01'), new Date(day(today))];
    await store.retention.forgetDomains({ before, limit: random(4), now });
  };
}

/** Kills the process after some blocks and a moment; without `blocks` it ends by itself. */
async function exportInProcess(args: string[], blocks?: number, ms = 0): Promise<number | null> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let written = 0;
  child.stdout.on('data', (text: Buffer) => {
    written += text.toString().split('\n').length - 1;
    if (blocks !== undefined && written >= blocks) void delay(ms).then(() => child.kill('SIGKILL'));
  });
  const [code] = await ended;
  return code;
}

it('an export that is killed at random moments loses nothing and has nothing twice', {
  skip,
  timeout: 600_000,
}, async () => {
  await using files = await temporaryDirectory();
  const [url, folder] = [`sqlite:${path.join(files.path, 'strata.db')}`, path.join(files.path, 'clickhouse')];
  await using store = await openStore(url);
  const liveOn = worldOf(store, 7);
  const random = randomFrom(8);
  for (let days = 0; days < 5; days += 1) await liveOn();
  let kills = 0;
  for (let round = 0; round < 8; round += 1) {
    const blocks = 1 + Math.floor(random() * 5);
    const killed = exportInProcess([url, folder], blocks, Math.floor(random() * 120));
    if (round % 2 === 0) await liveOn();
    if ((await killed) === null) kills += 1;
    await liveOn();
  }
  assert.ok(kills > 3, `${kills} kills`);
  assert.equal(await exportInProcess([url, folder]), 0);
  await using clickhouse = await openClickHouse(`chdb:${folder}`);
  const [domains, services] = await checkTables(clickhouse, store, rulebook.roleOf);
  assert.ok(domains > 50 && services > 100, `${domains} domains, ${services} services`);
  // And from nothing.
  await removeTables(clickhouse);
  const { signal } = new AbortController();
  await new Exporting({ store, clickhouse, rulebook }).runOnce(signal, () => {});
  assert.deepEqual(await checkTables(clickhouse, store, rulebook.roleOf), [domains, services]);
});
