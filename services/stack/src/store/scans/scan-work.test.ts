// Scan leases: exclusive, expired, released. Scans recorded in batches, as if one by one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BEGIN_WRITING } from '@strata/db';
import { connect } from '../../../../../tests/support/database/connections.ts';
import { openStore, type Store } from '../index.ts';
import { file, kept, memory, onEach, plansOf, postgres, rows } from '../test/backends.ts';
import { compareBatches } from '../test/scan-histories.ts';
import * as scans from '../test/scans.ts';
import { ScanWork } from './scan-work.ts';

const { confirm, day, exchangeOn, GOOGLE, HOUR, MICROSOFT, readFeed, recordScan, scanOf, withTxt } = scans;
const [MINUTE, NOW] = [60_000, new Date(day(1))];
const later = (ms: number) => new Date(NOW.getTime() + ms);
const a = { holder: 'a', limit: 10, leaseMs: MINUTE } as const;
const b = { ...a, holder: 'b' } as const;
const XYZ = ['x.com', 'y.com', 'z.com'];

onEach(kept, 'scan work', (_backend, test) => {
  test('is leased in the order in which it is due, to one alone, until the lease ends', async (store) => {
    const { work } = store;
    await store.domains.add(XYZ, { source: 'test' });
    await recordScan(store, scanOf('x.com', day(-3), GOOGLE), confirm);
    await recordScan(store, scanOf('y.com', day(-2), GOOGLE), confirm);
    assert.deepEqual(await work.claimDue({ ...a, limit: 2 }, NOW), ['z.com', 'x.com']);
    assert.deepEqual(await work.claimDue(b, NOW), ['y.com']);
    assert.deepEqual(await work.claimDue(a, later(MINUTE - 1)), [], 'also for the holder');
    assert.deepEqual(await work.claimDue(b, later(MINUTE)), ['z.com', 'x.com', 'y.com'], 'of a killed process');
    assert.deepEqual(await work.renew(['z.com'], a, later(MINUTE)), ['z.com'], 'which learns that it is lost');
  });

  test('begins with domains that wait for a second scan, but leaves half to the rest', async (store) => {
    const names = Array.from({ length: 6 }, (_, n) => `w${n}.com`);
    const scans = (n: number, exchange: string) => names.map((name) => scanOf(name, day(n), exchange));
    await store.recordScans([...scans(-4, GOOGLE), ...scans(-3, MICROSOFT)], confirm);
    await store.domains.add(XYZ, { source: 'test' });
    assert.deepEqual(await store.work.claimDue({ ...a, limit: 4 }, NOW), ['w0.com', 'w1.com', 'x.com', 'y.com']);
    assert.deepEqual(await store.work.claimDue({ ...b, limit: 4 }, NOW), ['w2.com', 'w3.com', 'z.com', 'w4.com']);
  });

  test('is more frequent for domains that change or are requested, and less frequent for stable ones', async (store) => {
    // Scans each second day for a year: one domain changes its records each time, the rest never.
    const txt = (name: string, n: number) => (name === 'lively.com' ? [`v=spf1 ip4:192.0.2.${n % 250} -all`] : []);
    const usualHours = { 'lively.com': 8.5, 'asked.com': 12, 'quiet.com': 48 };
    for (let n = 0; n <= 360; n += 2) {
      if (n === 360) await store.work.markRequested(['asked.com', 'none.com'], new Date(day(359)));
      const scans = Object.keys(usualHours).map((name) => withTxt(scanOf(name, day(n), GOOGLE), txt(name, n)));
      await store.recordScans(scans, confirm);
    }
    for (const [name, usual] of Object.entries(usualHours)) {
      let hours = 1;
      while (!(await store.domains.due(new Date(Date.parse(day(360)) + hours * HOUR), 3)).includes(name)) hours += 1;
      // An interval has its moment half of it earlier or later, once.
      assert.ok(hours >= usual / 2 && hours <= 1.5 * usual + 1, `${name}: ${hours}`);
    }
  });

  test('is held for longer when that is requested, and returned', async (store) => {
    const { work } = store;
    await store.domains.add(XYZ, { source: 'test' });
    await work.claimDue(a, NOW);
    assert.deepEqual(await work.renew(['x.com', 'y.com', 'none.com'], a, later(MINUTE / 2)), ['none.com']);
    assert.deepEqual(await work.claimDue(b, later(MINUTE)), ['z.com']);
    await work.release('a', ['x.com']);
    assert.deepEqual(await work.claimDue(b, later(MINUTE)), ['x.com']);
    await work.release('a');
    assert.deepEqual(await work.claimDue(b, later(MINUTE)), ['y.com']);
  });

  test('ends with the scan, in whatever process, and is counted', async (store) => {
    const { work } = store;
    await store.domains.add(XYZ, { source: 'test' });
    const counted = async (at: Date) => {
      const { due, leased } = await store.inspection.figures(at);
      return [due, leased];
    };
    assert.deepEqual(await store.inspection.figures(NOW), { due: 3, leased: 0, longestDueMs: 0 });
    await work.claimDue({ ...a, limit: 2 }, NOW);
    assert.deepEqual(await counted(NOW), [1, 2]);
    await recordScan(store, scanOf('x.com', day(1), GOOGLE), confirm);
    assert.deepEqual(await counted(NOW), [1, 1]);
    assert.deepEqual(await counted(later(MINUTE)), [1, 0], 'without leases that have expired');
    assert.deepEqual(await work.renew(['x.com', 'y.com'], a, NOW), ['x.com']);
    await recordScan(store, scanOf('y.com', day(0), GOOGLE), confirm);
    await work.postpone('y.com', NOW);
    assert.deepEqual([await counted(NOW), await work.claimDue(b, NOW)], [[1, 0], ['z.com']]);
    const overdueAt = async (n: number) => (await store.inspection.figures(new Date(day(n)))).longestDueMs;
    assert.ok((await overdueAt(40)) > 0);
    assert.equal((await overdueAt(41)) - (await overdueAt(40)), 24 * HOUR);
  });

  test('that is done twice, or late, changes nothing', async (store) => {
    await store.domains.add(['x.com'], { source: 'test' });
    await store.work.claimDue(a, NOW);
    await store.work.claimDue(b, later(MINUTE));
    await recordScan(store, scanOf('x.com', day(2), GOOGLE), confirm);
    const before = [await store.domains.profile('x.com'), await store.events.since(0, 10)];
    const late = scanOf('x.com', day(1), MICROSOFT);
    for (let times = 0; times < 2; times += 1)
      assert.partialDeepStrictEqual(await recordScan(store, late, confirm), { isChanged: false, changes: [] });
    assert.deepEqual([await store.domains.profile('x.com'), await store.events.since(0, 10)], before);
    assert.equal((await store.inspection.counts()).scans, 3);
    assert.deepEqual(await store.work.claimDue(a, new Date(day(2))), [], 'due after the later scan');
  });

  test('is not withheld by a lease that was taken while the clock was wrong', async (store) => {
    await store.domains.add(['x.com'], { source: 'test' });
    await store.work.claimDue(a, new Date(day(400)));
    assert.deepEqual(await store.work.claimDue(b, NOW), ['x.com']);
    for (const leaseMs of [0, -1, Number.NaN, 2 * HOUR])
      await assert.rejects(store.work.claimDue({ ...a, leaseMs }, NOW), RangeError);
  });
});

onEach(kept, 'scan work for several processes', (_backend, test) => {
  test('is distributed without a domain given twice or left', async (one, url) => {
    await using two = await openStore(url);
    const names = Array.from({ length: 600 }, (_, n) => `d${n}.com`);
    await one.domains.add(names, { source: 'test' });
    const taken: string[] = [];
    const take = async (holder: string, { work }: typeof one) => {
      for (let idle = 0; idle < 5; ) {
        const some = await work.claimDue({ ...a, holder, limit: 7 }, NOW);
        taken.push(...some);
        idle = some.length > 0 ? 0 : idle + 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => take(`p${n}`, n % 2 ? one : two)));
    assert.deepEqual(taken.sort(), names.sort());
  });

  test('is found by indexes, whatever the number of domains', async (store, url) => {
    const many = Array.from({ length: 2_000 }, (_, n) => `d${n}.com`);
    await store.domains.add([...many, 'x.com'], { source: 'test' });
    const plans = await plansOf(url, async (db) => {
      const work = new ScanWork(db, { rescanAfterMs: 1 });
      await work.claimDue(a, NOW);
      await work.renew(['x.com'], a, NOW);
      await work.release('a', ['x.com']);
    });
    // The names and ids that are passed are read from their list.
    const read = plans.flatMap(({ scans }) => scans).filter((table) => /domains/.test(table));
    assert.deepEqual(read, [], plans.map(({ sql, text }) => `${sql}\n${text}`).join('\n'));
    assert.ok(plans.every(({ sql, isSorted }) => !isSorted || !sql.includes('limit')));
    assert.ok(plans.some(({ indexes }) => indexes.includes('domains_due')));
  });
});

onEach([postgres], 'scan work', (_backend, test) => {
  test('is leased while another process writes', async (store, url) => {
    await store.domains.add(['x.com', 'y.com'], { source: 'test' });
    await using writing = await connect(url, BEGIN_WRITING);
    await writing.query("update domains set failures = 1 where name = 'x.com'");
    assert.deepEqual(await store.work.claimDue(a, NOW), ['y.com'], 'without what is being written');
    await writing.query('rollback');
    assert.deepEqual(await store.work.claimDue(b, NOW), ['x.com']);
  });
});

it('batches of scans leave every table as the same scans do one by one', async () => {
  let changes = 0;
  for (let seed = 1; seed <= 3; seed += 1) changes += await compareBatches(file, seed);
  assert.ok(changes > 22, `${changes} changes were confirmed`);
});

onEach(kept, 'scans in batches', (_backend, test) => {
  // More scans than fit one transaction: backup.test.ts. On PostgreSQL: kill.full.test.ts.
  test('are recorded but for those that cannot be', async (store) => {
    const good = (n: number) => scanOf(`d${n}.com`, day(0), GOOGLE);
    const timeless = { ...good(3), profile: { ...good(3).profile, observedAt: 'yesterday' } };
    const refused = { ...good(5), startedAt: new Date(Number.NaN) };
    const batch = [good(0), good(1), good(2), timeless, good(4), refused, good(6), good(0)];
    const results = await store.recordScans(batch, confirm);
    const recorded = results.map(({ status }) => status === 'fulfilled');
    const isGood = batch.map((scan) => scan !== timeless && scan !== refused);
    assert.deepEqual(recorded, isGood);
    const [why, counts] = [results[3], await store.inspection.counts()];
    assert.match(String(why?.status === 'rejected' && why.reason), /d3\.com has no valid observation time/);
    assert.deepEqual(counts, { domains: 5, scannedDomains: 5, services: 15, scans: 6, changes: 0 });
    await assert.rejects(recordScan(store, refused, confirm));
    assert.deepEqual(await store.recordScans([], confirm), []);
  });
});

onEach([postgres], 'batches of several processes', (_backend, test) => {
  test('are of the same domains, and come out as if one scan had been recorded after another', async (one, url) => {
    await using two = await openStore(url);
    const names = Array.from({ length: 10 }, (_, n) => `d${n}.com`);
    const scans = (n: number) => names.map((name) => scanOf(name, day(n), exchangeOn(n)));
    // All at once: what is planned before the transaction is outdated by other processes' writes again and again.
    const recorded = await Promise.all(
      [one, two].flatMap((store) => Array.from({ length: 8 }, (_, n) => store.recordScans(scans(n), confirm))),
    );
    assert.ok(recorded.flat().every(({ status }) => status === 'fulfilled'));
    assert.equal((await one.inspection.counts()).scans, 160);
    // The order in which they were written is that of their numbers: one store alone makes the same of it.
    await using alone = await openStore(await memory.fresh());
    const inOrder = 'select name, observed_at from scans join domains on domains.id = domain_id order by scans.id';
    for (const { name, observed_at } of await rows(url, inOrder)) {
      const n = (Number(observed_at) - Date.parse(day(0))) / (24 * HOUR);
      await recordScan(alone, scanOf(String(name), day(n), exchangeOn(n)), confirm);
    }
    assert.deepEqual(await one.events.since(0, 10_000), await alone.events.since(0, 10_000));
    const countsOf = async (store: Store) => ({ ...(await readFeed(store)), domains: [] });
    assert.deepEqual(await countsOf(one), await countsOf(alone));
    const page = { limit: 100, offset: 0 };
    for (const name of names) {
      assert.deepEqual(await one.domains.profile(name), await alone.domains.profile(name));
      assert.deepEqual(await one.domains.changes(name, page), await alone.domains.changes(name, page));
    }
  });
});
