// Events whose lists are found by comparing sets of domains; lists that follow a query.
import assert from 'node:assert/strict';
import { DomainIndex, type IndexedDomain, memoryAnalytics } from '@strata/analytics';
import { pino } from 'pino';
import { rulebook } from '../../../../tests/support/rulebook.ts';
import { namesMatching } from '../index/domain-queries.ts';
import { knownNames } from '../index/known-names.ts';
import type { StoredEvent } from '../store/index.ts';
import { memory, onEach } from '../store/test/backends.ts';
import { recordMentions } from '../test/polling.ts';
import { Notifier, type NotifierDeps } from './notifier.ts';
import type { RuleKind } from './watchlist.ts';

const at = new Date();
const stateOf = (id: number, dns: string): Omit<IndexedDomain, 'name'> => {
  const rest = { state: 'active', sector: 'unknown', posture: 0, holders: 0, score: null } as const;
  return { id, scannedAt: 0, ...rest, services: [['dns', dns, 'high']] };
};
const changed = (n: number, dns: string): Omit<StoredEvent, 'seq'> => {
  const payload = { ...stateOf(n, dns), domainId: n, isFirst: false, rulebook: '' };
  return { kind: 'domain-changed', at, domain: `d${n}.com`, payload };
};
const confirmed = (n: number) => {
  const times = { at: 0, confirmedAt: at.getTime() };
  const payload = { domainId: n, type: 'added', from: null, to: 'cloudflare', role: 'dns', ...times };
  return { kind: 'change-confirmed', at, domain: `d${n}.com`, payload } as Omit<StoredEvent, 'seq'>;
};
const exposed = (n: number): Omit<StoredEvent, 'seq'> => {
  return { kind: 'domain-exposed', at, domain: `d${n}.com`, payload: { domainId: n, advisoryIds: ['CVE-1'] } };
};

onEach([memory], 'the notifier', (_backend, test) => {
  test('reports an advisory to each list with a domain that it affects; then lists follow their queries', async (store) => {
    const { stored: key } = await store.keys.create({ tier: 'standard' });
    const create = async (domains: string[], query?: string, kind: RuleKind = 'advisory_known_exploited') => {
      const content = { name: '', domains, query, rules: [{ kind }], channels: [] };
      const list = await store.watchlists.create(key.id, content, { maxLists: 9, now: new Date() });
      return typeof list === 'string' ? list : list.id;
    };
    const all = ['d1.com', 'd2.com', 'd3.com', 'x.com'];
    const lists = [await create(all), await create(['d3.com', 'x.com'])];
    lists.push(await create(['d1.com', 'd3.com'], 'dns:cloudflare'), await create(['x.com'], 'dns:hetzner'));
    const index = new DomainIndex();
    const put = (n: number, dns: string) => index.put({ ...stateOf(n, dns), name: `d${n}.com`, firstSeen: 1_000 });
    for (const [n, dns] of ['', 'ovh', 'ovh', 'cloudflare', 'cloudflare', 'ovh'].entries()) if (n > 0) put(n, dns);
    const entry = { number: 1, products: ['p'], advisory: { id: 'CVE-1', title: null } };
    const advisories = { find: () => entry, verdictsOf: () => ({ find: () => 0 }) };
    const analytics = memoryAnalytics(index);
    let failing = 0;
    const uses = async () => {
      if (failing-- > 0) throw new Error('the statement is too long');
      return new Map([['p', await analytics.builds(['ovh'])]]);
    };
    const payload = { advisoryId: 'CVE-1', reason: 'exploited' };
    const log = [{ seq: 1, kind: 'advisory-touched', at, domain: '', payload } as StoredEvent];
    const push = (...events: Omit<StoredEvent, 'seq'>[]) => {
      for (const event of events) log.push({ ...event, seq: log.length + 1 } as StoredEvent);
    };
    const events = { latestSeq: async () => 0, since: async (seq: number) => log.filter((each) => each.seq > seq) };
    const exposures = { advisories, uses } as unknown as NotifierDeps['exposures'];
    let ahead = 0;
    const [now, own] = [() => new Date(Date.now() + ahead), { ...store, events } as unknown as NotifierDeps['store']];
    const names = namesMatching({ known: { usersOf: () => undefined }, rulebook, clock: now });
    const matching: typeof names = (query, ...rest) =>
      query === 'dns:ns1' ? Promise.reject(new Error('too much memory')) : names(query, ...rest);
    const clock = { now, clock: now, namesMatching: matching, logger: pino({ level: 'silent' }) };
    const deps = { names: knownNames(rulebook), exposures, analytics, ...clock, store: own };
    let notifier = await Notifier.open(deps);
    const answer = async (seq: number, times: number) => {
      index.position = { seq, scanId: 0 };
      for (let left = times; left > 0; left -= 1) await notifier.match();
    };
    await answer(1, 3);
    const reported = async (id = '') => (await store.notifications.list(id, 9)).map(({ domains }) => domains);
    assert.deepEqual(await Promise.all(lists.map(reported)), [[['d1.com', 'd2.com']], [], [undefined], []]);
    const followed = () => Promise.all(lists.map((id) => store.watchlists.domainsOf(id)));
    assert.deepEqual(await followed(), [all, ['d3.com', 'x.com'], ['d3.com', 'd4.com'], []]);

    lists.push(await create(['d1.com', 'd3.com'], 'first_seen:1970-01'), await create([], 'since:7d'));
    // Within the same hour: a changed domain is on the list for its event, whether it begins or ceases to match, or both.
    push(changed(3, 'ovh'), exposed(3), exposed(5), confirmed(5), changed(5, 'cloudflare'));
    push(changed(1, 'hetzner'), exposed(1), changed(1, 'ovh'), exposed(2));
    put(3, 'ovh');
    put(5, 'cloudflare');
    await answer(1, 1);
    assert.deepEqual((await followed())[2], ['d3.com', 'd4.com'], 'the answers do not have the events');
    await answer(log.length, 1);
    const [old, recent] = [['d1.com', 'd2.com', 'd3.com', 'd5.com'], ['d5.com']];
    assert.deepEqual((await followed()).slice(2), [['d4.com', 'd5.com'], [], old, recent]);
    const domainsOf = async (n: number) =>
      (await store.notifications.list(lists[n] ?? '', 9)).map(({ domain }) => domain).toSorted();
    assert.deepEqual([await domainsOf(2), await domainsOf(3)], [['d1.com', 'd3.com', 'd5.com'], ['d1.com']]);

    // The next hour evaluates all lists, but not by answers without the matched events.
    put(5, 'ovh');
    ahead = 3_600_000;
    await answer(log.length - 1, 5);
    assert.deepEqual((await followed())[2], ['d4.com', 'd5.com']);
    await answer(log.length + 1, 5);
    assert.deepEqual((await followed())[2], ['d4.com']);

    // An advisory that fails alone, and a list whose query does, hold up nothing else for long, also after a kill.
    const inFeeds = await create(['m.com'], undefined, 'named_in_feed');
    await recordMentions(store, 'https://f.example/', ['m.com'], 1);
    log.push({ ...log[0], seq: log.length + 1 } as StoredEvent);
    failing = 3;
    await assert.rejects(answer(log.length, 1), /too long/);
    assert.equal((await reported(inFeeds)).length, 1);
    for (let bad = 0; bad < 2; bad += 1) await create([], 'dns:ns1');
    await recordMentions(store, 'https://f.example/', ['m.com'], 2);
    for (let tries = 0; tries < 3; tries += 1) await answer(log.length, 1).catch(() => {});
    assert.deepEqual([(await reported(inFeeds)).length, (await reported(lists[1])).length], [2, 1]);
    notifier = await Notifier.open(deps);
    const { search } = analytics;
    analytics.search = async (asked) => (asked.limit === all.length ? assert.fail() : search.call(analytics, asked));
    for (let tries = 0; tries < 3; tries += 1) await answer(log.length, 1).catch(() => {});
    assert.deepEqual([(await reported(lists[0])).length, (await reported(lists[1])).length], [4, 2]);
    analytics.search = search;
    ahead += 60_000;
    await answer(log.length, 1).catch(() => {});
    assert.equal((await reported(lists[0])).length, 5);
  });
});
