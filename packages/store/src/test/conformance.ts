// What every store must do, whatever database is below it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect, type Evidence, packHolders, packPosture, type Rulebook } from '@strata/detect';
import type { RecordedScan, Store } from '../index.ts';
import {
  confirm,
  day,
  GOOGLE,
  HOUR,
  MICROSOFT,
  rulebook,
  rulebookWithout,
  scanOf,
  withServer,
  withTxt,
} from './scans.ts';

/** Where it cannot be had, `skip` says why. */
export function storeConformance(name: string, openFresh: () => Promise<Store>, skip: string | false = false): void {
  describe(`the store on ${name}`, { skip }, () => {
    const told = (recorded: RecordedScan) => recorded.changes.map((c) => `${c.type} ${c.from ?? '-'}>${c.to ?? '-'}`);

    it('adds domains once and hands out those that were never scanned first', async () => {
      await using store = await openFresh();
      assert.deepEqual(await store.addDomains(['b.com', 'a.com', 'b.com'], { source: 'test' }), { added: 2, known: 0 });
      assert.deepEqual(await store.addDomains(['a.com', 'c.com'], { source: 'test' }), { added: 1, known: 1 });
      assert.deepEqual(await store.due(new Date(), 10), ['b.com', 'a.com', 'c.com']);
      await store.recordScan(scanOf('b.com', day(0), GOOGLE), confirm);
      assert.deepEqual(await store.due(new Date(day(0)), 10), ['a.com', 'c.com']);
      assert.deepEqual(await store.due(new Date(day(2)), 10), ['a.com', 'c.com', 'b.com']);
      assert.deepEqual([await store.isTracked('a.com'), await store.isTracked('z.com')], [true, false]);
      assert.deepEqual([...(await store.scannedSince(['a.com', 'b.com'], new Date(day(0))))], ['b.com']);
      assert.deepEqual(await store.counts(), { domains: 3, scannedDomains: 1, services: 3, scans: 1, changes: 0 });
    });

    it('takes more names at once than a statement has room for', async () => {
      await using store = await openFresh();
      const names = Array.from({ length: 5_500 }, (_, i) => `d${i}.com`);
      assert.deepEqual(await store.addDomains(names, { source: 'test' }), { added: 5_500, known: 0 });
      assert.equal((await store.scannedSince(names, new Date(0))).size, 0);
    });

    it('tells a domain only after a scan, then all of it', async () => {
      await using store = await openFresh();
      await store.addDomains(['a.com'], { source: 'test' });
      assert.equal(await store.domain('a.com'), undefined);
      const recorded = await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      assert.deepEqual([recorded.isFirst, recorded.isChanged, recorded.changes], [true, true, []]);
      const profile = await store.domain('a.com');
      assert.deepEqual(
        profile?.services.map((s) => `${s.category}/${s.provider}`),
        ['dns/cloudflare', 'email/google-workspace', 'verified_service/google'],
      );
      assert.equal(profile?.scannedAt.toISOString(), day(0));
      assert.equal(profile?.services[1]?.evidence[0]?.value, GOOGLE);
      assert.equal(profile?.security.spf.result, 'none');
    });

    it('tells of another version, which is no change of services', async () => {
      await using store = await openFresh();
      const serving = (at: string, server: string) => withServer(scanOf('a.com', at, GOOGLE), server);
      const nginx = async () => (await store.domain('a.com'))?.services.find(({ provider }) => provider === 'nginx');
      const built = async () => [(await nginx())?.version, (await nginx())?.platform];
      await store.recordScan(serving(day(0), 'nginx/1.18.0 (Ubuntu)'), confirm);
      assert.deepEqual(await built(), ['1.18.0', 'ubuntu']);
      const again = await store.recordScan(serving(day(1), 'nginx/1.18.0 (Ubuntu)'), confirm);
      assert.equal(again.isChanged, false);
      const since = await store.latestSeq();
      const newer = await store.recordScan(serving(day(2), 'nginx/1.20.1 (Ubuntu)'), confirm);
      assert.deepEqual([newer.isChanged, newer.changes], [true, []]);
      assert.deepEqual(await built(), ['1.20.1', 'ubuntu']);
      const [event, ...others] = await store.eventsSince(since, 10);
      assert.ok(event?.kind === 'domain-changed' && others.length === 0);
      const service = ['web_platform', 'nginx', 'medium', '1.20.1', 'ubuntu'] as const;
      assert.deepEqual(event.payload.services.at(-1), service);
      const fed: unknown[] = [];
      await store.feed.readAll({
        domains: (batch) => fed.push(...batch.flatMap(({ services }) => services)),
        changes: () => {},
        scanDays: () => {},
      });
      assert.deepEqual(fed.at(-1), service);
      const hidden = await store.recordScan(serving(day(3), 'nginx'), confirm);
      assert.deepEqual([hidden.isChanged, await built()], [true, [null, null]]);
    });

    it('writes neither rows of services nor events for a scan that sees the same', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      const [seq, before] = [await store.latestSeq(), await store.domain('a.com')];
      const again = await store.recordScan(scanOf('a.com', day(1), GOOGLE), confirm);
      assert.deepEqual([again.isChanged, await store.latestSeq()], [false, seq]);
      const lastSeen = new Date(day(1));
      const services = before?.services.map((service) => ({ ...service, lastSeen }));
      assert.deepEqual((await store.domain('a.com'))?.services, services);
    });

    it('records a migration once it is confirmed, with an event, and pages through changes without skipping', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      assert.deepEqual(told(await store.recordScan(scanOf('a.com', day(1), MICROSOFT), confirm)), []);
      assert.deepEqual(await store.due(new Date(Date.parse(day(1)) + 7 * HOUR), 10), ['a.com'], 'looked at again soon');
      assert.deepEqual(told(await store.recordScan(scanOf('a.com', day(2), MICROSOFT), confirm)), [
        'migrated google-workspace>microsoft-365',
      ]);
      const exchange = (i: number) => (Math.floor((i - 1) / 2) % 2 === 1 ? GOOGLE : MICROSOFT);
      for (let i = 3; i < 9; i += 1) await store.recordScan(scanOf('a.com', day(i), exchange(i)), confirm);
      const all = await store.changes('a.com', { limit: 100, offset: 0 });
      assert.ok(all.total >= 3);
      const times = all.changes.map((c) => c.at.getTime());
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      );
      const paged = [];
      for (let offset = 0; offset < all.total; offset += 1)
        paged.push(...(await store.changes('a.com', { limit: 1, offset })).changes);
      assert.deepEqual(paged, all.changes);
      const events = await store.eventsSince(0, 1_000);
      assert.ok(events.some((event) => event.kind === 'change-confirmed' && event.domain === 'a.com'));
      const numbers = events.map(({ seq }) => seq);
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
      assert.deepEqual(await store.eventsSince(numbers[0] ?? 0, 1), [events[1]]);
    });

    it('tells of a scan its changes, then the domain as it is now, then what got worse', async () => {
      await using store = await openFresh();
      const spf = 'v=spf1 include:_spf.google.com -all';
      await store.recordScan(withTxt(scanOf('a.com', day(0), GOOGLE), [spf]), confirm);
      await store.recordScan(withTxt(scanOf('a.com', day(1), MICROSOFT), [spf]), confirm);
      const seq = await store.latestSeq();
      const [first] = await store.eventsSince(0, 10);
      assert.ok(first?.kind === 'domain-changed' && first.payload.isFirst);

      const scan = withTxt(scanOf('a.com', day(2), MICROSOFT), []);
      await store.recordScan(scan, confirm);
      const events = await store.eventsSince(seq, 10);
      assert.deepEqual(
        events.map(({ kind, domain, at }) => [kind, domain, at.toISOString()]),
        ['change-confirmed', 'domain-changed', 'posture-regressed'].map((kind) => [kind, 'a.com', day(2)]),
      );
      const [change, domain, worse] = events;
      assert.ok(change?.kind === 'change-confirmed');
      const { type, from, to, isEntry, isExit } = change.payload;
      assert.deepEqual(
        { type, from, to, isEntry, isExit },
        { type: 'migrated', from: 'google-workspace', to: 'microsoft-365', isEntry: true, isExit: true },
      );
      const [{ id } = { id: '' }] = (await store.changes('a.com', { limit: 1, offset: 0 })).changes;
      assert.equal(change.payload.id, id);
      assert.ok(domain?.kind === 'domain-changed' && !domain.payload.isFirst);
      assert.equal(domain.payload.posture, packPosture(scan.profile.security));
      assert.equal(domain.payload.holders, packHolders(scan.profile.holders));
      assert.deepEqual(
        domain.payload.services.filter(([category]) => category === 'email').map(([, provider]) => provider),
        ['microsoft-365'],
      );
      assert.deepEqual(worse?.payload, { domainId: domain.payload.domainId, regressions: ['spf_removed'] });
    });

    it('tells of nothing getting worse where the look-up failed or the name is gone', async () => {
      await using store = await openFresh();
      await store.recordScan(withTxt(scanOf('a.com', day(0), GOOGLE), ['v=spf1 -all']), confirm);
      const seen = withTxt(scanOf('a.com', day(1), GOOGLE), []);
      const txt = { status: 'timeout', records: [], aliases: [] } as const;
      const evidence = { ...seen.evidence, dns: { ...seen.evidence.dns, txt } };
      await store.recordScan({ ...seen, evidence, profile: detect(evidence, rulebook) }, confirm);
      const kinds = async () => (await store.eventsSince(0, 100)).map(({ kind }) => kind);
      assert.ok((await kinds()).every((kind) => kind === 'domain-changed'));
      // The last posture that was measured is not remembered: what is missing two looks later is no news of that day.
      const profile = { ...detect(seen.evidence, rulebook), state: 'nonexistent', observedAt: day(2) } as const;
      await store.recordScan({ ...seen, profile }, confirm);
      assert.ok((await kinds()).every((kind) => kind === 'domain-changed'));
    });

    it('keeps what was known through look-ups that fail and scans that resolve nothing', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      for (let i = 1; i < 4; i += 1)
        assert.deepEqual(told(await store.recordScan(scanOf('a.com', day(i), null), confirm)), []);
      const failed = scanOf('a.com', day(5), null);
      const nothing = { ...failed, profile: { ...failed.profile, state: 'unmeasured' as const, services: [] } };
      assert.equal((await store.recordScan(nothing, confirm)).isChanged, false);
      const mailbox = (await store.domain('a.com'))?.services.find((s) => s.category === 'email');
      assert.deepEqual([mailbox?.provider, mailbox?.lastSeen.toISOString()], ['google-workspace', day(0)]);
      assert.deepEqual(await store.due(new Date(Date.parse(day(5)) + HOUR), 10), ['a.com'], 'tried again soon');
    });

    it('reads old evidence again when the rulebook has changed, and calls the difference reclassified', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      const without = rulebookWithout('google-workspace');
      assert.notEqual(without.version, rulebook.version);
      const recorded = await store.recordScan(scanOf('a.com', day(1), GOOGLE, without), {
        ...confirm,
        redetect: (evidence) => detect(evidence, without),
      });
      assert.deepEqual(told(recorded), ['reclassified google-workspace>-']);
      const events = await store.eventsSince(0, 100);
      const types = events.flatMap((event) => (event.kind === 'change-confirmed' ? event.payload.type : []));
      assert.deepEqual(types, ['reclassified']);
    });

    it('reads the newest evidence with new rules, not an older one that lacks what has come back', async () => {
      await using store = await openFresh();
      const both = ['google-site-verification=x', 'MS=ms12345678'];
      const scan = (n: number, txt: readonly string[], rules?: Rulebook) =>
        withTxt(scanOf('a.com', day(n), GOOGLE, rules), txt, rules);
      await store.recordScan(scan(0, both), confirm);
      // The posture changes as one token is missed, so that this look is kept; nothing is told when the token is back.
      await store.recordScan(scan(1, ['google-site-verification=x', 'v=spf1 -all']), confirm);
      assert.equal((await store.recordScan(scan(2, [...both, 'v=spf1 -all']), confirm)).isChanged, false);
      const rules = rulebookWithout('zoho-mail');
      const redetect = (evidence: Evidence) => detect(evidence, rules);
      const recorded = await store.recordScan(scan(3, [...both, 'v=spf1 -all'], rules), { ...confirm, redetect });
      assert.deepEqual(told(recorded), []);
      assert.equal((await store.domain('a.com'))?.services.filter((s) => s.category === 'verified_service').length, 2);
    });

    it('takes a gap in the old evidence for no migration under new rules', async () => {
      await using store = await openFresh();
      const less = rulebookWithout('google-workspace');
      await store.recordScan(scanOf('a.com', day(0), GOOGLE, less), confirm);
      await store.recordScan(scanOf('a.com', day(1), null, less), confirm);
      const redetect = (evidence: Evidence) => detect(evidence, rulebook);
      for (let n = 2; n < 5; n += 1) {
        const recorded = await store.recordScan(scanOf('a.com', day(n), GOOGLE), { ...confirm, redetect });
        assert.deepEqual(told(recorded), []);
      }
      const services = (await store.domain('a.com'))?.services ?? [];
      assert.ok(services.some((s) => s.provider === 'google-workspace'));
    });

    it('says that a domain has changed when only its posture has', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      const seq = await store.latestSeq();
      const hardened = withTxt(scanOf('a.com', day(1), GOOGLE), ['google-site-verification=x', 'v=spf1 -all']);
      assert.equal((await store.recordScan(hardened, confirm)).isChanged, true);
      const kinds = (await store.eventsSince(seq, 10)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['domain-changed']);
      assert.equal((await store.domain('a.com'))?.security.spf.all, '-all');
    });

    it('lets a look that comes late change nothing', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(2), GOOGLE), confirm);
      const before = await store.domain('a.com');
      const late = await store.recordScan(scanOf('a.com', day(1), MICROSOFT), confirm);
      assert.deepEqual([late.isChanged, late.changes], [false, []]);
      assert.deepEqual(await store.domain('a.com'), before);
      assert.equal((await store.counts()).scans, 2);
    });

    it('tells of changes made at once the most important first, and only once of a scan given twice', async () => {
      await using store = await openFresh();
      await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
      const moved = (n: number) => withTxt(scanOf('a.com', day(n), MICROSOFT), ['nothing']);
      for (const scan of [moved(1), moved(1), moved(2), moved(2)]) await store.recordScan(scan, confirm);
      const { changes } = await store.changes('a.com', { limit: 10, offset: 0 });
      const said = changes.map(({ importance, type, category }) => `${importance} ${type} ${category}`);
      assert.deepEqual(said, ['high migrated email', 'low removed verified_service']);
    });

    it('waits twice as long after each scan that resolves nothing, and a day at most', async () => {
      await using store = await openFresh();
      const scan = scanOf('a.com', day(0), null);
      const nothing = { ...scan, profile: { ...scan.profile, state: 'unmeasured' as const, services: [] } };
      const waits = [];
      for (let n = 0; n < 9; n += 1) {
        await store.recordScan(nothing, confirm);
        let minutes = 15;
        while ((await store.due(new Date(Date.parse(day(0)) + minutes * 60_000), 1)).length === 0) minutes += 15;
        waits.push(minutes);
      }
      assert.deepEqual(waits, [15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]);
      assert.equal(await store.domain('a.com'), undefined);
    });

    it('keeps only the hash of a key, and forgets a revoked one', async () => {
      await using store = await openFresh();
      const { key, stored } = await store.keys.create({ tier: 'standard', label: 'test' });
      assert.match(key, /^ssk_[\w-]{43}$/);
      assert.equal((await store.keys.find(key))?.id, stored.id);
      assert.equal(stored.priority, 'normal');
      const first = await store.keys.create({ tier: 'standard', priority: 'high' });
      assert.equal((await store.keys.find(first.key))?.priority, 'high');
      assert.equal(await store.keys.revoke(first.stored.id), true);
      const near = [`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`, key.toLowerCase(), ` ${key}`, key.slice(4)];
      for (const wrong of [...near, `${key}x`, key.slice(0, -1), `sk-${key.slice(4)}`, '', 'ssk_', "' or 1=1 --"])
        assert.equal(await store.keys.find(wrong), undefined, wrong.slice(0, 4));
      assert.ok(!JSON.stringify(await store.keys.list()).includes(key));
      assert.deepEqual(
        [await store.keys.revoke(stored.id), await store.keys.revoke(stored.id), await store.keys.revoke('key_none')],
        [true, false, false],
      );
      assert.equal(await store.keys.find(key), undefined);
      assert.ok((await store.keys.list())[0]?.revokedAt);
    });

    it('gives an address only so many free keys a day', async () => {
      await using store = await openFresh();
      const issue = (address: string) => store.keys.issue(address, { perDay: 2 });
      assert.ok((await issue('192.0.2.1')) && (await issue('192.0.2.1')));
      assert.equal(await issue('192.0.2.1'), undefined);
      const { stored } = (await issue('192.0.2.2')) ?? {};
      assert.deepEqual([stored?.dailyLimit, stored?.priority], [50, 'low']);
    });

    it('counts to the limit exactly, however many ask at once', async () => {
      await using store = await openFresh();
      const { stored } = await store.keys.create({ tier: 'free' });
      const taken = await Promise.all(Array.from({ length: 80 }, () => store.quota.take(stored.id, '2026-01-01', 50)));
      assert.equal(taken.filter((each) => each.isAllowed).length, 50);
      assert.equal(await store.quota.used(stored.id, '2026-01-01'), 50);
      assert.deepEqual(await store.quota.take(stored.id, '2026-01-02', 50), { isAllowed: true, used: 1 });
      assert.deepEqual(await store.quota.take(stored.id, '2026-01-03', 0), { isAllowed: false, used: 0 });
    });
  });
}
