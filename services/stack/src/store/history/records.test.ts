// Records as scans leave them: what is written, how values are counted, pages of their domains.
import assert from 'node:assert/strict';
import { favicons } from '../migrations/records.ts';
import { kept, onEach, plansOf, rows } from '../test/backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../test/scans.ts';
import { MAX_COUNTED, type PivotKey, RecordTable } from './records.ts';

const MX = { kind: 'mx', value: GOOGLE } as const;

onEach(kept, 'records', (_backend, test) => {
  test('have the intervals of their look-ups, and an unchanged scan writes none', async (store, url) => {
    const scan = (n: number, exchange: string | null) => recordScan(store, scanOf('a.com', day(n), exchange), confirm);
    const written = () =>
      rows(url, 'select kind, value, first_seen, last_seen, ended_at from records order by 1, 2, 3');
    await scan(0, GOOGLE);
    const first = await written();
    await scan(1, GOOGLE);
    assert.deepEqual(await written(), first);
    for (const [n, exchange] of [[2, null] as const, [3, MICROSOFT] as const, [4, GOOGLE] as const])
      await scan(n, exchange);
    // Older than the last one: changes nothing.
    await scan(1, 'old.example');
    const mx = (await store.records.of('a.com')).records.filter(({ kind }) => kind === 'mx');
    const seen = mx.map(({ value, firstSeen, lastSeen, endedAt }) => [
      value,
      ...[firstSeen, lastSeen, endedAt].map((time) => time?.toISOString() ?? null),
    ]);
    const moved = [MICROSOFT, day(3), day(3), day(4)] as const;
    assert.deepEqual(seen, [[GOOGLE, day(0), day(1), day(3)] as const, [GOOGLE, day(4), day(4), null] as const, moved]);
    await recordScan(store, scanOf('b.com', day(0), MICROSOFT), confirm);
    const old = { before: new Date(day(100)), limit: 10, now: new Date(day(100)) };
    assert.equal(await store.retention.forgetDomains(old), true);
    assert.deepEqual(await written(), [], 'a forgotten domain has none');
    await scan(101, GOOGLE);
    assert.equal((await written()).length, first.length, 'and begins again');
  });
  test('of a favicon that earlier scans did not measure begin without a change', async (store, url) => {
    const { evidence, ...scan } = scanOf('a.com', day(1), GOOGLE);
    const skipped = { status: 'skipped', statusCode: null, contentType: null, text: '' } as const;
    const files = { mtaSts: skipped, securityTxt: skipped, favicon: { status: 'found', hash: -7 } } as const;
    await recordScan(store, scanOf('a.com', day(0), GOOGLE), confirm);
    await rows(url, "delete from records where kind = 'favicon'");
    await plansOf(url, (db) => favicons(db as never));
    await recordScan(store, { ...scan, evidence: { ...evidence, files } }, confirm);
    const { records, unmeasuredUntil } = await store.records.of('a.com');
    const favicon = records.find(({ kind }) => kind === 'favicon');
    const at = new Date(day(1));
    assert.deepEqual([favicon?.value, favicon?.firstSeen, unmeasuredUntil.get('favicon')], ['-7', at, at]);
  });
  test('are counted and listed by value, in pages that neither skip nor repeat', async (store, url) => {
    const names = Array.from({ length: 9 }, (_, i) => `d${i}.com`);
    const scans = (n: number, of: readonly string[], to: string) =>
      store.recordScans(
        of.map((name) => scanOf(name, day(n), to)),
        confirm,
      );
    await scans(0, names, GOOGLE);
    await scans(1, names.slice(6), MICROSOFT);
    await scans(2, names.slice(8), GOOGLE);
    const { records } = store;
    assert.deepEqual(await records.count(MX), { now: 7, ever: 9 });
    const many = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MAX_COUNTED})
      insert into records select (select id from domains where name = 'd0.com'), 'mx', 'many', i + `;
    for (const [offset, ever] of [
      ['0, 1, 1 from n', 1],
      [`${MAX_COUNTED}, 1, 1 from n where i = 1`, null],
    ] as const) {
      await rows(url, many + offset);
      assert.deepEqual(await records.count({ ...MX, value: 'many' }), { now: 0, ever });
    }
    assert.deepEqual(await records.countEach([{ ...MX, value: 'no' }, MX], 5), [0, 5]);
    const users = await records.usersOf([MX, { ...MX, value: MICROSOFT }], 100);
    const domains = users
      .filter(({ value }) => value === MICROSOFT)
      .map(({ domain }) => domain)
      .sort()
      .join();
    assert.equal(domains, 'd6.com,d7.com');
    for (const [isPresent, expected] of [
      [true, [...names.slice(0, 6), 'd8.com']],
      [false, ['d8.com', 'd7.com', 'd6.com']],
    ] as const)
      for (const limit of [1, 2, 100]) {
        const found: string[] = [];
        for (let after: PivotKey | undefined; ; ) {
          const page = await records.users(MX, { isPresent, limit, ...(after && { after }) });
          found.push(...page.map(({ domain }) => domain));
          after = page.at(-1)?.key;
          if (page.length < limit) break;
        }
        assert.deepEqual(found, expected, `${isPresent} ${limit}`);
      }
    const plans = await plansOf(url, async (db) => {
      const table = new RecordTable(db);
      await table.count(MX);
      for (const isPresent of [true, false]) await table.users(MX, { isPresent, limit: 1, after: [1, 1] });
      const kept = await table.ofEach([9, 10], 'mx');
      const ended = kept.map((each) => `${each.domainId} ${each.value} ${each.endedAt !== null}`);
      const expected = [`9 ${GOOGLE} false`, `9 ${GOOGLE} true`, `9 ${MICROSOFT} true`];
      assert.deepEqual(ended.sort(), expected);
    });
    for (const { sql, scans: read, indexes, isSorted, text } of plans.filter((plan) => /records/.test(plan.sql))) {
      const isBounded =
        !read.some((name) => /^(records|domains)/.test(name)) &&
        (indexes.join().includes('records_') || /records USING PRIMARY KEY/.test(text));
      assert.ok(isBounded && !(isSorted && /order by/i.test(sql)), text);
    }
  });
});
