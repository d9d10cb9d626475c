// The export into ClickHouse: after kills of the exporter or of ClickHouse at random moments every table has what the store has.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '@strata/analytics';
import { openClickHouse, removeTables } from '@strata/analytics-clickhouse';
import { createLogger } from '@strata/http';
import { missingChdb } from '../../../../tests/support/clickhouse/missing-chdb.ts';
import { startClickHouseServer } from '../../../../tests/support/clickhouse/server.ts';
import { randomFrom } from '../../../../tests/support/random.ts';
import { rulebook } from '../../../../tests/support/rulebook.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openStore, type Store } from '../store/index.ts';
import { confirm, GOOGLE, MICROSOFT, scanOf, withServer, withTxt } from '../store/test/scans.ts';
import { Exporting } from './exporting.ts';
import { checkTables } from './test/check-tables.ts';

const program = path.join(import.meta.dirname, 'test/export-process.ts');

const MAX_ROWS = { domains: 20, page: 10 };

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
      const domain = `d${random(90)}.${['com', 'de'][random(2)]}`;
      const plain = scanOf(domain, day(today), [GOOGLE, MICROSOFT][random(2)] ?? null);
      const scan = random(3) === 0 ? withTxt(plain, [['v=spf1 -all', 'MS=ms1'], []][random(2)] ?? []) : plain;
      if (random(9) === 0) return { ...scan, profile: { ...scan.profile, state: 'unmeasured' as const, services: [] } };
      return random(4) === 0 ? withServer(scan, `nginx/1.${random(3)}.0`) : scan;
    });
    await store.recordScans(scans, confirm);
    const [before, now] = [new Date('2100-01-01'), new Date(day(today))];
    await store.retention.forgetDomains({ before, limit: random(4), now });
  };
}

/** Killed after some blocks and a moment; without `blocks` it ends by itself. */
async function exportInProcess(
  args: string[],
  { blocks, ms = 0 }: { blocks?: number; ms?: number } = {},
): Promise<number | null> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let written = 0;
  let killing: Promise<unknown> | undefined;
  child.stdout.on('data', (text: Buffer) => {
    written += text.toString().split('\n').length - 1;
    if (blocks !== undefined && written >= blocks) killing ??= delay(ms).then(() => child.kill('SIGKILL'));
  });
  const [code] = await ended;
  await killing;
  return code;
}

/** `attempt`: exports until a kill, or to the end; resolves with whether it was killed. `random`: 0 to 1. */
async function assertSurvives(
  analytics: string,
  attempt: (store: Store, url: string, random: () => number) => Promise<boolean>,
) {
  await using files = await temporaryDirectory();
  const url = `sqlite:${path.join(files.path, 'strata.db')}`;
  await using store = await openStore(url);
  const liveOn = worldOf(store, 7);
  const random = randomFrom(8);
  for (let days = 0; days < 5; days += 1) await liveOn();
  let kills = 0;
  for (let round = 0; round < 6; round += 1) {
    const ended = attempt(store, url, random);
    if (round % 2 === 0) await liveOn();
    if (await ended) kills += 1;
    await liveOn();
  }
  assert.ok(kills > 2, `${kills} kills`);
  assert.equal(await exportInProcess([url, analytics]), 0);
  await using clickhouse = await openClickHouse(analytics);
  const [domains, services] = await checkTables(clickhouse, store, rulebook.roleOf);
  assert.ok(domains > 50 && services > 100, `${domains} domains, ${services} services`);
  // And from nothing.
  await removeTables(clickhouse);
  const lags: (number | undefined)[] = [];
  const command: typeof clickhouse.command = async (...all) => {
    lags.push(await exporting.lag());
    return clickhouse.command(...all);
  };
  const exporting = new Exporting({ store, clickhouse: { ...clickhouse, command }, rulebook, maxRows: MAX_ROWS });
  const stopping = new AbortController();
  const logger = createLogger({ level: 'silent' });
  const wait = async () => {
    lags.push(await exporting.lag());
    stopping.abort();
  };
  await exporting.run({ logger, signal: stopping.signal, wait });
  const latest = await store.events.latestSeq();
  assert.deepEqual([...new Set(lags), await exporting.lag()], [latest, 0, undefined]);
  assert.deepEqual(await checkTables(clickhouse, store, rulebook.roleOf), [domains, services]);
}

const limit = { skip: missingChdb, timeout: 600_000 };

it('an export that is killed at random moments loses nothing and has nothing twice', limit, async () => {
  await using folder = await temporaryDirectory();
  const analytics = `chdb:${path.join(folder.path, 'clickhouse')}`;
  await assertSurvives(analytics, async (_store, url, random) => {
    const [blocks, ms] = [1 + Math.floor(random() * 5), Math.floor(random() * 120)];
    return (await exportInProcess([url, analytics], { blocks, ms })) !== 0;
  });
});

it('an export whose ClickHouse is killed within a block loses nothing and has nothing twice', limit, async () => {
  await using server = await startClickHouseServer();
  await assertSurvives(server.url, async (store, _url, random) => {
    await using clickhouse = await openClickHouse(server.url);
    // Before a statement of a block or while it runs.
    const [statement, isBefore] = [2 + Math.floor(random() * 20), random() < 0.5];
    let applied = 0;
    const command: typeof clickhouse.command = async (text, ...options) => {
      if (text.includes('insert_deduplication_token')) applied += 1;
      const killing = applied === statement ? server.kill() : undefined;
      if (isBefore) await killing;
      await clickhouse.command(text, ...options).finally(() => killing);
    };
    const exporting = new Exporting({ store, clickhouse: { ...clickhouse, command }, rulebook, maxRows: MAX_ROWS });
    await exporting
      .runOnce(new AbortController().signal, () => {})
      .catch((error) => assert.ok(applied >= statement, error));
    await server.start();
    return applied >= statement;
  });
});
