// On-demand domains: forgotten without requests, and limited where names are free.

import assert from 'node:assert/strict';
import { checkStore } from '@strata/db';
import { FeedOffers } from '../feeds/feed-offers.ts';
import { RetentionTable } from '../history/retention.ts';
import { stackSchema } from '../index.ts';
import { kept, onEach, plansOf, rows } from '../test/backends.ts';
import * as scans from '../test/scans.ts';

const { confirm, day, exchangeOn, GOOGLE, readFeed, scanOf } = scans;
const PAGE = { limit: 10, offset: 0 };

onEach(kept, 'a domain that a request has added', (_backend, test) => {
  test('is forgotten without requests; its changes and scans stay, and domains of lists and feeds', async (store, url) => {
    await store.domains.add(['listed.com'], { source: 'list' });
    const names = ['listed.com', 'asked.com', 'idle.com', 'busy.com', 'named.com'];
    // Mail moves on the third day: one change for each domain.
    const scansOn = (n: number) => names.map((name) => scanOf(name, day(n), exchangeOn(n)));
    for (let n = 0; n < 5; n += 1) await store.recordScans(scansOn(n), confirm);
    await store.work.markRequested(['asked.com'], new Date(day(4)));
    await store.domains.add(['named.com'], { source: 'feed' });
    const holder = 'a process';
    const [leased] = await store.work.claimDue({ holder, limit: 1, leaseMs: 60_000 }, new Date(day(40)));
    await store.work.release(holder);
    const before = await readFeed(store);
    const { changes } = await store.domains.changes('idle.com', PAGE);
    const forget = (now: string, to = day(3)) =>
      store.retention.forgetDomains({ before: new Date(to), limit: 1, now: new Date(now) });
    const scanCount = async () => (await store.inspection.counts()).scans;
    const scanned = await scanCount();
    while (await forget(day(5)));
    const left = (await readFeed(store)).domains.map(({ name }) => name);
    assert.deepEqual(left, ['listed.com', 'asked.com', 'named.com']);
    assert.equal(await store.domains.profile('idle.com'), undefined);
    assert.equal(await store.domains.isTracked('idle.com'), false);
    assert.equal((await rows(url, 'select 1 as n from evidence')).length, 3);
    // Confirmed changes and counts are kept.
    assert.ok(changes.length > 0 && leased);
    assert.deepEqual((await store.domains.changes('idle.com', PAGE)).changes, changes);
    const { changeDays, scanDays } = await readFeed(store);
    assert.deepEqual([changeDays, scanDays, await scanCount()], [before.changeDays, before.scanDays, scanned]);
    const events = (await store.events.since(before.position.seq, 2)).map(({ kind, domain }) => `${kind} ${domain}`);
    assert.deepEqual(events, ['domain-removed idle.com', 'domain-removed busy.com']);
    const due = await store.domains.due(new Date(day(400)), 9);
    assert.deepEqual(due.toSorted(), ['asked.com', 'listed.com', 'named.com']);

    // A new request adds it as new; a list makes it due.
    assert.ok((await scans.recordScan(store, scanOf('idle.com', day(6), GOOGLE), confirm)).isFirst);
    const mail = (await store.domains.profile('idle.com'))?.services.find(({ category }) => category === 'email');
    assert.equal(mail?.firstObserved.toISOString(), day(6));
    assert.deepEqual(await store.domains.add(['busy.com'], { source: 'list' }), { added: 0, known: 1 });
    assert.deepEqual(await store.domains.due(new Date(day(5)), 1), ['busy.com']);
    assert.deepEqual((await checkStore(stackSchema, url)).findings, []);
  });

  test('is kept while it is scanned, and while clients request it, which is written once an hour', async (store, url) => {
    await scans.recordScan(store, scanOf('a.com', day(0), GOOGLE), confirm);
    const forget = (hour: number) => {
      const now = new Date(Date.parse(day(9)) + hour * scans.HOUR);
      return store.retention.forgetDomains({ before: new Date(now.getTime() - scans.HOUR), limit: 9, now });
    };
    await store.work.claimDue({ holder: 'h', limit: 1, leaseMs: 60_000 }, new Date(day(9)));
    assert.equal(await forget(0), false);
    await store.work.release('h');
    const askedAt = async () => Number((await rows(url, 'select asked_at as at from domains'))[0]?.at);
    for (const minute of [0, 59, 60]) {
      await store.work.markRequested(['a.com'], new Date(Date.parse(day(9)) + minute * 60_000));
      assert.equal(await askedAt(), Date.parse(day(9)));
    }
    await store.work.markRequested(['a.com'], new Date(Date.parse(day(9)) + 61 * 60_000));
    assert.equal(await forget(2), false);
    assert.equal(await forget(3), true);
  });

  test('is found by an index, whatever the number of domains', async (store, url) => {
    const names = Array.from({ length: 500 }, (_, n) => `d${n}.com`);
    await store.domains.add(names, { source: 'list' });
    await scans.recordScan(store, scanOf('a.com', day(0), GOOGLE), confirm);
    const plans = await plansOf(url, async (db) => {
      const retention = new RetentionTable(db);
      await retention.forgetDomains({ before: new Date(day(1)), limit: 5, now: new Date(day(1)) });
      await new FeedOffers(db).waiting(5);
    });
    for (const { sql, scans: read, text } of plans) {
      const large = read.filter((name) => /^(?:domains|services|evidence)\b/.test(name));
      assert.deepEqual(large, [], `${sql}\n${text}`);
    }
  });

  test('is counted by suffix, address and altogether, in days that do not run backwards', async ({ onDemandDays }) => {
    const bounds = (suffix: string, address: string) => [
      { subject: `suffix ${suffix}`, limit: 2 },
      { subject: `address ${address}`, limit: 3 },
      { subject: 'all', limit: 5 },
    ];
    const take = async (day: number, suffix: string, address: string) => {
      const taken = await onDemandDays.take(day, bounds(suffix, address));
      return 'met' in taken ? taken.met.subject : undefined;
    };
    const taken = await Promise.all(Array.from({ length: 4 }, () => take(7, 'a.app', 'x')));
    assert.deepEqual(taken.toSorted(), ['suffix a.app', 'suffix a.app', undefined, undefined]);
    assert.equal(await take(7, 'b.app', 'x'), undefined);
    assert.equal(await take(7, 'b.app', 'x'), 'address x');
    await onDemandDays.refund(7, bounds('b.app', 'x'));
    assert.equal(await take(6, 'b.app', 'x'), undefined);
    assert.equal(await take(6, 'b.app', 'x'), 'address x');
    for (const address of ['y', 'z']) assert.equal(await take(7, 'c.app', address), undefined);
    assert.equal(await take(7, 'd.app', 'u'), 'all');
    for (const result of [undefined, undefined, 'suffix a.app']) {
      assert.equal(await take(8, 'a.app', 'x'), result);
      await onDemandDays.refund(7, bounds('a.app', 'x'));
    }
    assert.deepEqual(await onDemandDays.take(7, bounds('b.app', 'y')), { day: 8 });
  });
});
