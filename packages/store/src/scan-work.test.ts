// Which process scans which domain: leases that are given to one alone, end, and are given back.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import { ScanWork } from './scan-work.ts';
import { connect } from './test/connections.ts';
import { databases, kept, onEach, postgres } from './test/places.ts';
import { plansOf } from './test/plans.ts';
import { confirm, day, GOOGLE, HOUR, MICROSOFT, scanOf, withTxt } from './test/scans.ts';

const MINUTE = 60_000;
const NOW = new Date(day(1));
const later = (ms: number) => new Date(NOW.getTime() + ms);
const a = { holder: 'a', limit: 10, leaseMs: MINUTE } as const;
const b = { ...a, holder: 'b' } as const;

onEach(databases, 'scan work', (place) => {
  it('is leased in the order in which it is due, to one alone, until the lease ends', async () => {
    await using store = await openStore(await place.fresh());
    await store.addDomains(['x.com', 'y.com', 'z.com'], { source: 'test' });
    await store.recordScan(scanOf('x.com', day(-3), GOOGLE), confirm);
    await store.recordScan(scanOf('y.com', day(-2), GOOGLE), confirm);
    assert.deepEqual(await store.work.claimDue({ ...a, limit: 2 }, NOW), ['z.com', 'x.com']);
    assert.deepEqual(await store.work.claimDue(b, NOW), ['y.com']);
    assert.deepEqual(await store.work.claimDue(a, later(MINUTE - 1)), [], 'also for who holds them');
    assert.deepEqual(await store.work.claimDue(b, later(MINUTE)), ['z.com', 'x.com', 'y.com'], 'of who was killed');
    assert.deepEqual(await store.work.renew(['z.com'], a, later(MINUTE)), ['z.com'], 'which is told that it is lost');
  });

  it('begins with what waits for a second look, but leaves half to the others', async () => {
    await using store = await openStore(await place.fresh());
    const names = Array.from({ length: 6 }, (_, n) => `w${n}.com`);
    const looks = (n: number, exchange: string) => names.map((name) => scanOf(name, day(n), exchange));
    await store.recordScans([...looks(-4, GOOGLE), ...looks(-3, MICROSOFT)], confirm);
    await store.addDomains(['x.com', 'y.com', 'z.com'], { source: 'test' });
    assert.deepEqual(await store.work.claimDue({ ...a, limit: 4 }, NOW), ['w0.com', 'w1.com', 'x.com', 'y.com']);
    assert.deepEqual(await store.work.claimDue({ ...b, limit: 4 }, NOW), ['w2.com', 'w3.com', 'z.com', 'w4.com']);
  });

  it('comes more often for who changes and who is asked for, and less for who is quiet', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    // Looks each second day for a year: one changes what it says each time, the others never.
    const txt = (name: string, n: number) => (name === 'lively.com' ? [`v=spf1 ip4:192.0.2.${n % 250} -all`] : []);
    const look = (n: number) =>
      store.recordScans(
        ['lively.com', 'quiet.com', 'asked.com'].map((name) => withTxt(scanOf(name, day(n), GOOGLE), txt(name, n))),
        confirm,
      );
    for (let n = 0; n < 360; n += 2) await look(n);
    await store.work.markAsked(['asked.com', 'none.com'], new Date(day(359)));
    const last = Date.parse(day(360));
    await look(360);
    const interval = async (name: string) => {
      for (let hours = 1; ; hours += 1) {
        const due = await store.due(new Date(last + hours * HOUR), 3);
        if (due.includes(name)) return hours;
      }
    };
    // An interval has its moment half of it earlier or later, once.
    const within = (hours: number, usual: number) => hours >= usual / 2 && hours <= 1.5 * usual + 1;
    for (const [name, usual] of [
      ['lively.com', 8.5],
      ['asked.com', 12],
      ['quiet.com', 48],
    ] as const)
      assert.ok(within(await interval(name), usual), `${name}: ${await interval(name)}`);
  });

  it('is held for longer when that is asked for, and given back', async () => {
    await using store = await openStore(await place.fresh());
    await store.addDomains(['x.com', 'y.com', 'z.com'], { source: 'test' });
    await store.work.claimDue(a, NOW);
    assert.deepEqual(await store.work.renew(['x.com', 'y.com', 'none.com'], a, later(MINUTE / 2)), ['none.com']);
    assert.deepEqual(await store.work.claimDue(b, later(MINUTE)), ['z.com']);
    await store.work.release('a', ['x.com']);
    assert.deepEqual(await store.work.claimDue(b, later(MINUTE)), ['x.com']);
    await store.work.release('a');
    assert.deepEqual(await store.work.claimDue(b, later(MINUTE)), ['y.com']);
  });

  it('ends with the scan, whoever made it, and its progress is told exactly', async () => {
    await using store = await openStore(await place.fresh());
    await store.addDomains(['x.com', 'y.com', 'z.com'], { source: 'test' });
    const progress = async (at: Date) => Object.values(await store.work.progress(at));
    assert.deepEqual(await store.work.progress(NOW), { domains: 3, due: 3, leased: 0, upToDate: 0 });
    await store.work.claimDue({ ...a, limit: 2 }, NOW);
    assert.deepEqual(await progress(NOW), [3, 1, 2, 0]);
    await store.recordScan(scanOf('x.com', day(1), GOOGLE), confirm);
    assert.deepEqual(await progress(NOW), [3, 1, 1, 1]);
    assert.deepEqual(await progress(later(MINUTE)), [3, 2, 0, 1], 'a lease that has ended is none');
    assert.deepEqual(await store.work.renew(['x.com', 'y.com'], a, NOW), ['x.com']);
    await store.work.putOff('y.com', NOW);
    assert.deepEqual(await progress(NOW), [3, 1, 0, 2]);
    assert.deepEqual(await store.work.claimDue(b, NOW), ['z.com']);
  });

  it('that is done twice, or late, changes nothing that it must not', async () => {
    await using store = await openStore(await place.fresh());
    await store.addDomains(['x.com'], { source: 'test' });
    await store.work.claimDue(a, NOW);
    const slow = scanOf('x.com', day(1), MICROSOFT);
    await store.work.claimDue(b, later(MINUTE));
    await store.recordScan(scanOf('x.com', day(2), GOOGLE), confirm);
    const before = [await store.domain('x.com'), await store.eventsSince(0, 10)];
    for (let times = 0; times < 2; times += 1) assert.equal((await store.recordScan(slow, confirm)).isChanged, false);
    assert.deepEqual([await store.domain('x.com'), await store.eventsSince(0, 10)], before);
    assert.deepEqual(await store.work.claimDue(a, new Date(day(2))), [], 'the later look counts');
  });

  it('is not withheld by a lease that was taken while the clock was wrong', async () => {
    await using store = await openStore(await place.fresh());
    await store.addDomains(['x.com'], { source: 'test' });
    await store.work.claimDue(a, new Date(day(400)));
    assert.deepEqual(await store.work.claimDue(b, NOW), ['x.com']);
    for (const leaseMs of [0, -1, Number.NaN, 2 * 3_600_000])
      await assert.rejects(store.work.claimDue({ ...a, leaseMs }, NOW), RangeError);
  });
});

onEach(kept, 'scan work for several processes', (place) => {
  it('is shared out without a domain given twice or left', async () => {
    const url = await place.fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const names = Array.from({ length: 600 }, (_, n) => `d${n}.com`);
    await one.addDomains(names, { source: 'test' });
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

  it('is found by indexes, whatever the number of domains', async () => {
    const url = await place.fresh();
    {
      await using store = await openStore(url);
      await store.addDomains(['x.com', 'y.com'], { source: 'test' });
    }
    const plans = await plansOf(url, async (db) => {
      const work = new ScanWork(db, { rescanAfterMs: 1 });
      await work.claimDue(a, NOW);
      await work.renew(['x.com'], a, NOW);
      await work.release('a', ['x.com']);
    });
    // The names and ids that are given are read from their list; of leases there are few.
    const read = plans.flatMap(({ scans }) => scans).filter((table) => /domains/.test(table));
    assert.deepEqual(read, [], plans.map(({ sql, text }) => `${sql}\n${text}`).join('\n'));
    assert.ok(plans.every(({ sql, isSorted }) => !isSorted || !sql.includes('limit')));
    assert.ok(plans.some(({ indexes }) => indexes.includes('domains_due')));
  });
});

onEach([postgres], 'scan work', ({ fresh }) => {
  it('is leased while another process has its turn to write', async () => {
    const url = await fresh();
    await using store = await openStore(url);
    await store.addDomains(['x.com', 'y.com'], { source: 'test' });
    await using writing = await connect(url);
    await writing.query(BEGIN_WRITING);
    await writing.query("update domains set failures = 1 where name = 'x.com'");
    assert.deepEqual(await store.work.claimDue(a, NOW), ['y.com'], 'without what is being written');
    await writing.query('rollback');
    assert.deepEqual(await store.work.claimDue(b, NOW), ['x.com']);
  });
});
