// Events whose lists are found by comparing sets of domains.
import assert from 'node:assert/strict';
import { DomainSet } from '@strata/analytics';
import type { StoredEvent } from '../store/index.ts';
import { memory, onEach } from '../store/test/backends.ts';
import { Notifier, type NotifierDeps } from './notifier.ts';

onEach([memory], 'the notifier', (_backend, test) => {
  test('reports an advisory to each list with a domain that it affects; then lists follow their queries', async (store) => {
    const { stored: key } = await store.keys.create({ tier: 'standard' });
    const rules = [{ kind: 'advisory_known_exploited' }] as const;
    const create = async (domains: string[], query?: string) => {
      const content = { name: '', domains, query, rules, channels: [] };
      const list = await store.watchlists.create(key.id, content, { maxLists: 9, now: new Date() });
      return typeof list === 'string' ? list : list.id;
    };
    const all = ['d1.com', 'd2.com', 'd3.com', 'x.com'];
    const lists = [await create(all), await create(['d3.com', 'x.com'])];
    lists.push(await create(['d1.com', 'd3.com'], 'dns:ns1'), await create(['x.com'], 'dns:none'));
    const ns1 = ['d4.com', 'd3.com'];
    const namesMatching: NotifierDeps['namesMatching'] = (query, max, among) =>
      query === 'dns:ns1' && max === (among?.length ?? 10_000) ? ns1.filter((n) => among?.includes(n) ?? true) : [];
    const entry = { number: 1, products: ['p'], advisory: { id: 'CVE-1', title: null } };
    const advisories = { find: () => entry, verdictsOf: () => ({ find: () => 0 }) };
    const usesOf = () => [{ build: {}, domains: DomainSet.ofSorted(Uint32Array.of(1, 2)) }];
    const payload = { advisoryId: 'CVE-1', reason: 'exploited' };
    const event = { seq: 1, kind: 'advisory-touched', at: new Date(), domain: '', payload } as StoredEvent;
    const log = [event];
    const events = { latestSeq: async () => 0, since: async (seq: number) => log.filter((each) => each.seq > seq) };
    const exposures = { isLoaded: true, advisories, usesOf } as unknown as NotifierDeps['exposures'];
    const find = (name: string) => ({ 'd1.com': 1, 'd2.com': 2, 'd3.com': 3 })[name];
    const index = { names: { sorted: { find } }, position: { seq: 1 } } as unknown as NotifierDeps['index'];
    const [now, own] = [() => new Date(), { ...store, events } as unknown as NotifierDeps['store']];
    const deps = { names: { nameOf: String }, exposures, index, namesMatching, now, clock: now };
    const notifier = await Notifier.open({ ...deps, store: own });
    for (let times = 0; times < 3; times += 1) await notifier.match();
    const reported = async (id: string) => (await store.notifications.list(id, 9)).map(({ domains }) => domains);
    assert.deepEqual(await Promise.all(lists.map(reported)), [[['d1.com', 'd2.com']], [], [undefined], []]);
    const followed = () => Promise.all(lists.map((id) => store.watchlists.domainsOf(id)));
    assert.deepEqual(await followed(), [all, ['d3.com', 'x.com'], ['d3.com', 'd4.com'], []]);

    // Within the same hour: a changed domain is on the list for its event, whether it begins or ceases to match.
    const changed = (seq: number, domain: string) =>
      ({ seq, kind: 'domain-changed', at: new Date(), domain, payload: {} }) as StoredEvent;
    const exposure = { kind: 'domain-exposed', payload: { advisoryIds: ['CVE-1'] } };
    const exposed = (seq: number, domain: string) =>
      ({ ...changed(seq, domain), ...exposure }) as unknown as StoredEvent;
    log.push(changed(2, 'd3.com'), exposed(3, 'd3.com'), exposed(4, 'd5.com'), changed(5, 'd5.com'));
    ns1.splice(0, 2, 'd4.com', 'd5.com');
    await notifier.match();
    assert.deepEqual((await followed())[2], ['d4.com', 'd5.com']);
    const domains = (await store.notifications.list(lists[2] ?? '', 9)).map(({ domain }) => domain);
    assert.deepEqual(domains.toSorted(), ['d1.com', 'd3.com', 'd5.com']);
  });
});
