// What every store does, whatever database is below it.
import assert from 'node:assert/strict';
import { detect, type Evidence, packHolders, packPosture, type Rulebook } from '@strata/detect';
import { rulebook, rulebookWithout } from '../../../../tests/support/rulebook.ts';
import { openStore, type RecordedScan, type ScanRecord, type Store } from './index.ts';
import { kept, onEach } from './test/backends.ts';
import * as scans from './test/scans.ts';

const { confirm, day, GOOGLE, HOUR, MICROSOFT, readFeed, scanOf, withServer, withTxt } = scans;
const PAGE = { limit: 100, offset: 0 } as const;
const SPF = 'v=spf1 -all';
const scan = (n: number, exchange: string | null = GOOGLE, rules: Rulebook = rulebook) =>
  scanOf('a.com', day(n), exchange, rules);
const after = (n: number, hours: number) => new Date(Date.parse(day(n)) + hours * HOUR);
const unmeasured = (scan: ScanRecord): ScanRecord => ({
  ...scan,
  profile: { ...scan.profile, state: 'unmeasured', services: [] },
});
const summaryOf = (recorded: RecordedScan) => recorded.changes.map((c) => `${c.type} ${c.from ?? '-'}>${c.to ?? '-'}`);
const kindsSince = async (store: Store, seq: number) => (await store.events.since(seq, 100)).map(({ kind }) => kind);

onEach(kept, 'the store', (_backend, test, onFresh) => {
  test('adds domains once and hands out those that were never scanned first', async (store) => {
    assert.deepEqual(await store.domains.add(['b.com', 'a.com', 'b.com'], { source: 'test' }), { added: 2, known: 0 });
    assert.deepEqual(await store.domains.add(['a.com', 'c.com'], { source: 'test' }), { added: 1, known: 1 });
    assert.deepEqual(await store.domains.due(new Date(), 10), ['b.com', 'a.com', 'c.com']);
    await scans.recordScan(store, scanOf('b.com', day(0), GOOGLE), confirm);
    assert.deepEqual(await store.domains.due(new Date(day(0)), 10), ['a.com', 'c.com']);
    assert.deepEqual(await store.domains.due(new Date(day(2)), 10), ['a.com', 'c.com', 'b.com']);
    assert.deepEqual([await store.domains.isTracked('a.com'), await store.domains.isTracked('z.com')], [true, false]);
    assert.deepEqual([...(await store.domains.scannedSince(['a.com', 'b.com'], new Date(day(0))))], ['b.com']);
    const counts = await store.inspection.counts();
    assert.deepEqual(counts, { domains: 3, scannedDomains: 1, services: 3, scans: 1, changes: 0 });
  });
  test('reports a domain only after a scan, then all of it', async (store) => {
    await store.domains.add(['a.com'], { source: 'test' });
    assert.equal(await store.domains.profile('a.com'), undefined);
    assert.deepEqual(await scans.recordScan(store, scan(0), confirm), { isFirst: true, isChanged: true, changes: [] });
    const { services, scannedAt, security } = (await store.domains.profile('a.com')) ?? assert.fail();
    const names = services.map((s) => `${s.category}/${s.provider}`);
    assert.deepEqual(names, ['dns/cloudflare', 'email/google-workspace', 'verified_service/google']);
    assert.deepEqual([scannedAt.toISOString(), services[1]?.evidence[0]?.value], [day(0), GOOGLE]);
    assert.equal(security.spf.result, 'none');
  });
  test('reports another version, which is not a change of services', async (store) => {
    const record = (n: number, server: string) => scans.recordScan(store, withServer(scan(n), server), confirm);
    const builtOn = async () => {
      const nginx = (await store.domains.profile('a.com'))?.services.find(({ provider }) => provider === 'nginx');
      return [nginx?.version, nginx?.platform];
    };
    await record(0, 'nginx/1.18.0 (Ubuntu)');
    assert.deepEqual(await builtOn(), ['1.18.0', 'ubuntu']);
    assert.equal((await record(1, 'nginx/1.18.0 (Ubuntu)')).isChanged, false);
    const [since, newer] = [await store.events.latestSeq(), await record(2, 'nginx/1.20.1 (Ubuntu)')];
    assert.deepEqual([newer.isChanged, newer.changes, await builtOn()], [true, [], ['1.20.1', 'ubuntu']]);
    const [event, ...rest] = await store.events.since(since, 10);
    assert.ok(event?.kind === 'domain-changed' && rest.length === 0);
    const service = ['web_platform', 'nginx', 'high', '1.20.1', 'ubuntu'];
    assert.deepEqual(event.payload.services.at(-1), service);
    assert.deepEqual((await readFeed(store)).domains.at(-1)?.services.at(-1), service);
    assert.deepEqual([(await record(3, 'nginx')).isChanged, await builtOn()], [true, [null, null]]);
  });
  test('records a migration once it is confirmed, with an event, and pages without skipping', async (store) => {
    await scans.recordScan(store, scan(0), confirm);
    assert.deepEqual(summaryOf(await scans.recordScan(store, scan(1, MICROSOFT), confirm)), []);
    assert.deepEqual(await store.domains.due(after(1, 7), 10), ['a.com'], 'scanned again soon');
    const confirmed = summaryOf(await scans.recordScan(store, scan(2, MICROSOFT), confirm));
    assert.deepEqual(confirmed, ['migrated google-workspace>microsoft-365']);
    const exchange = (i: number) => (Math.floor((i - 1) / 2) % 2 === 1 ? GOOGLE : MICROSOFT);
    for (let i = 3; i < 9; i += 1) await scans.recordScan(store, scan(i, exchange(i)), confirm);
    const { total, changes } = await store.domains.changes('a.com', PAGE);
    assert.ok(total >= 3);
    const newestFirst = changes.toSorted((a, b) => b.at.getTime() - a.at.getTime());
    const pages = Array.from({ length: total }, (_, offset) => store.domains.changes('a.com', { limit: 1, offset }));
    const paged = (await Promise.all(pages)).flatMap((page) => page.changes);
    assert.deepEqual([paged, newestFirst], [changes, changes]);
    const events = await store.events.since(0, 1_000);
    assert.ok(events.some((event) => event.kind === 'change-confirmed' && event.domain === 'a.com'));
    const inOrder = events.toSorted((a, b) => a.seq - b.seq);
    assert.deepEqual([events, await store.events.since(events[0]?.seq ?? 0, 1)], [inOrder, [events[1]]]);
  });
  test('publishes the changes of a scan, then the domain as it is now, then what got worse', async (store) => {
    const spf = ['v=spf1 include:_spf.google.com -all'];
    await scans.recordScan(store, withTxt(scan(0), spf), confirm);
    await scans.recordScan(store, withTxt(scan(1, MICROSOFT), spf), confirm);
    const [seq, [first]] = [await store.events.latestSeq(), await store.events.since(0, 10)];
    assert.ok(first?.kind === 'domain-changed' && first.payload.isFirst);
    const worse = withTxt(scan(2, MICROSOFT), []);
    await scans.recordScan(store, worse, confirm);
    const events = await store.events.since(seq, 10);
    const { id } = (await store.domains.changes('a.com', PAGE)).changes[0] ?? assert.fail();
    const migrated = { type: 'migrated', from: 'google-workspace', to: 'microsoft-365', isEntry: true, isExit: true };
    const { security, holders } = worse.profile;
    const now = { isFirst: false, posture: packPosture(security), holders: packHolders(holders) };
    const [, domain] = events;
    assert.ok(domain?.kind === 'domain-changed' && events.length === 3);
    const { domainId, services } = domain.payload;
    const on = { domain: 'a.com', at: new Date(day(2)) };
    assert.partialDeepStrictEqual(events, [
      { ...on, kind: 'change-confirmed', payload: { id, ...migrated } },
      { ...on, kind: 'domain-changed', payload: now },
      { ...on, kind: 'posture-regressed', payload: { domainId, regressions: ['spf_removed'] } },
    ]);
    const mail = services.filter(([category]) => category === 'email').map(([, provider]) => provider);
    assert.deepEqual(mail, ['microsoft-365']);
  });
  test('reports nothing as worse where the look-up failed or the name does not exist', async (store) => {
    await scans.recordScan(store, withTxt(scan(0), [SPF]), confirm);
    const found = withTxt(scan(1), []);
    const txt = { status: 'timeout', records: [], aliases: [] } as const;
    const evidence = { ...found.evidence, dns: { ...found.evidence.dns, txt } };
    // The last posture that was measured is not remembered: what is missing two scans later is no news of that day.
    const nonexistent = { ...found.profile, state: 'nonexistent', observedAt: day(2) } as const;
    const failed = { evidence, profile: detect(evidence, rulebook) };
    for (const next of [failed, { evidence: found.evidence, profile: nonexistent }]) {
      await scans.recordScan(store, { ...found, ...next }, confirm);
      assert.deepEqual(new Set(await kindsSince(store, 0)), new Set(['domain-changed']));
    }
  });
  test('reads old evidence again with a changed rulebook, and calls the difference reclassified', async (store) => {
    await scans.recordScan(store, scan(0), confirm);
    const without = rulebookWithout('google-workspace');
    assert.notEqual(without.version, rulebook.version);
    const redetect = (evidence: Evidence) => detect(evidence, without);
    const recorded = await scans.recordScan(store, scan(1, GOOGLE, without), { ...confirm, redetect });
    assert.deepEqual(summaryOf(recorded), ['reclassified google-workspace>-']);
    const events = await store.events.since(0, 100);
    const types = events.flatMap((event) => (event.kind === 'change-confirmed' ? event.payload.type : []));
    assert.deepEqual(types, ['reclassified']);
  });
  test('reads the newest evidence with new rules, not an older one that lacks what has come back', async (store) => {
    const [both, rules] = [['google-site-verification=x', 'MS=ms12345678'], rulebookWithout('zoho-mail')];
    await scans.recordScan(store, withTxt(scan(0), both), confirm);
    // The posture changes as one token is missed, so that this scan is kept; nothing is published when the token is back.
    await scans.recordScan(store, withTxt(scan(1), ['google-site-verification=x', SPF]), confirm);
    assert.equal((await scans.recordScan(store, withTxt(scan(2), [...both, SPF]), confirm)).isChanged, false);
    const redetect = (evidence: Evidence) => detect(evidence, rules);
    const newest = withTxt(scan(3, GOOGLE, rules), [...both, SPF], rules);
    assert.deepEqual(summaryOf(await scans.recordScan(store, newest, { ...confirm, redetect })), []);
    const { services } = (await store.domains.profile('a.com')) ?? assert.fail();
    assert.equal(services.filter((s) => s.category === 'verified_service').length, 2);
  });
  test('reports a domain as changed when only its posture has', async (store) => {
    await scans.recordScan(store, scan(0), confirm);
    const [seq, hardened] = [await store.events.latestSeq(), withTxt(scan(1), ['google-site-verification=x', SPF])];
    assert.equal((await scans.recordScan(store, hardened, confirm)).isChanged, true);
    assert.deepEqual(await kindsSince(store, seq), ['domain-changed']);
    assert.equal((await store.domains.profile('a.com'))?.security.spf.all, '-all');
  });
  test('lists simultaneous changes the most important first, and once of a scan given twice', async (store) => {
    await scans.recordScan(store, scan(0), confirm);
    const moved = (n: number) => withTxt(scan(n, MICROSOFT), ['nothing']);
    for (const each of [moved(1), moved(1), moved(2), moved(2)]) await scans.recordScan(store, each, confirm);
    const { changes } = await store.domains.changes('a.com', PAGE);
    const listed = changes.map(({ importance, type, category }) => `${importance} ${type} ${category}`);
    assert.deepEqual(listed, ['high migrated email', 'low removed verified_service']);
  });
  test('waits twice as long after each scan that resolves nothing, and at most a day', async (store) => {
    const waits = [];
    for (let n = 0; n < 9; n += 1) {
      await scans.recordScan(store, unmeasured(scan(0, null)), confirm);
      let minutes = 15;
      while ((await store.domains.due(after(0, minutes / 60), 1)).length === 0) minutes += 15;
      waits.push(minutes);
    }
    assert.deepEqual(waits, [15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]);
    assert.equal(await store.domains.profile('a.com'), undefined);
  });
  test('keeps only the hash of a key, and does not find a revoked one', async ({ keys }) => {
    const { key, stored } = await keys.create({ tier: 'standard', label: 'test' });
    assert.match(key, /^ssk_[\w-]{43}$/);
    assert.deepEqual([(await keys.find(key))?.id, stored.priority], [stored.id, 'normal']);
    const first = await keys.create({ tier: 'standard', priority: 'high' });
    assert.deepEqual([(await keys.find(first.key))?.priority, await keys.revoke(first.stored.id)], ['high', true]);
    const near = [`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`, key.toLowerCase(), ` ${key}`, key.slice(4)];
    for (const wrong of [...near, `${key}x`, key.slice(0, -1), `sk-${key.slice(4)}`, '', 'ssk_', "' or 1=1 --"])
      assert.equal(await keys.find(wrong), undefined, wrong.slice(0, 4));
    assert.ok(!JSON.stringify(await keys.list()).includes(key));
    assert.equal(await keys.revoke(stored.id), true);
    for (const id of [stored.id, 'key_none']) assert.equal(await keys.revoke(id), false);
    const valid = (await keys.create({ tier: 'free' })).stored.id;
    assert.deepEqual(await keys.stillValid([valid, stored.id, 'key_none']), new Set([valid]));
    assert.equal(await keys.find(key), undefined);
    assert.ok((await keys.list())[0]?.revokedAt);
  });

  onFresh('issues a limited number of free keys a day to an address, each network and all clients', async (url) => {
    let now = Date.parse('2026-05-01T23:59:59Z');
    await using store = await openStore(url, { now: () => new Date(now) });
    const issue = async (...[first = '', ...wider]: string[]) => {
      const limits = [{ name: first, times: 1 }, ...wider.map((name) => ({ name, times: 2 })), { name: '*', times: 4 }];
      return (await store.keys.issue(limits, { perDay: 2 }))?.stored;
    };
    const issued = async (times: number, ...networks: string[]) => {
      const stored = [];
      for (let i = 0; i < times; i += 1) stored.push(await issue(...networks));
      return stored.filter((each) => each !== undefined).length;
    };
    assert.deepEqual([await issued(3, 'a1', 'a'), await issued(3, 'a2', 'a'), await issued(1, 'a3', 'a')], [2, 2, 0]);
    assert.deepEqual([await issued(3, 'b'), await issued(3, 'c'), await issued(1, 'd')], [2, 2, 0], 'all have eight');
    now += 1_000;
    const { dailyLimit, priority } = (await issue('a1', 'a')) ?? {};
    assert.deepEqual([dailyLimit, priority], [50, 'low'], 'on the next day');
    now -= 7 * 86_400_000;
    assert.equal(await issued(3, 'a1', 'a'), 1, 'a clock that is set back is still in that day');
  });
  test('keeps the latest text of a name, and the latest position of the watch', async ({ texts, signals }) => {
    assert.deepEqual([await texts.get('a'), await signals.watched()], [undefined, undefined]);
    assert.ok(await texts.replace('a', undefined, { a: 'one' }));
    await texts.put('a', 'two');
    assert.equal(await texts.replace('a', 'one', { a: 'three', b: 'four' }), false);
    for (const seq of [1, 3]) await signals.setWatched({ seq, day: seq + 1 });
    assert.deepEqual([await texts.get('a'), await texts.get('b')], ['two', undefined]);
    assert.deepEqual(await signals.watched(), { seq: 3, day: 4 });
  });
  test('accepts times to delete history by, the first after the newest scan', async (store) => {
    const { retention } = store.inTerm(0);
    assert.equal(await retention.acceptedTime(), undefined);
    for (const n of [1, 0]) await scans.recordScan(store, scan(n), confirm);
    assert.deepEqual(await retention.acceptedTime(), new Date(day(0)));
    for (const n of [9, 5]) await retention.acceptTime(new Date(day(n)));
    assert.deepEqual(await retention.acceptedTime(), new Date(day(5)));
  });
});
