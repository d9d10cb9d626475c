// Notifications and messages in the database: each once, together, and within the limits of a message.

import assert from 'node:assert/strict';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import type { Match } from '../../watchlists/match.ts';
import type { Channel } from '../../watchlists/watchlist.ts';
import type { WatchlistContent } from '../index.ts';
import { memory, onEach, postgres } from '../test/backends.ts';

const now = new Date('2026-11-29T12:30:00Z');
const later = new Date(now.getTime() + 60_000);
const channel = (id: string, digest: Channel['digest']): Channel => {
  return { id, kind: 'webhook', target: `https://${id}.example/`, digest, timeZone: 'UTC' };
};
const content: WatchlistContent = {
  ...{ name: 'list', domains: ['a.com', 'b.com'], rules: [{ kind: 'gained_provider' }] },
  channels: [channel('now', 'none'), channel('hour', 'hourly')],
};

onEach([memory, postgres], 'watchlists', (_backend, test) => {
  test('report an event once per rule; notifications, messages and position are stored together', async (store) => {
    const { stored: key } = await store.keys.create({ tier: 'standard' });
    const create = () => store.watchlists.create(key.id, content, { maxLists: 1, now });
    const list = await create();
    assert.ok(typeof list !== 'string');
    assert.equal(await create(), 'too_many_lists');
    const watching = (domains: string[]) => Array.fromAsync(store.watched.watching(domains, 1));
    const onList = (domain: string) => [{ domain, list: { id: list.id, rules: content.rules } }];
    assert.deepEqual(await watching(['b.com', 'c.com', 'a.com']), [onList('a.com'), onList('b.com'), []]);

    const matches = (from: number, to: number, watchlistId = list.id) =>
      Array.from({ length: to - from }, (_, i): Match => {
        const notification = {
          rule: 'gained_provider',
          at: '',
          title: `${from + i}`,
          domain: 'a.com',
          detail: {},
          ref: '',
        } as const;
        return { watchlistId, rule: 'gained_provider', event: `ev_${from + i}`, notification };
      });
    const { notifications, deliveries } = store;
    await notifications.record(matches(0, 3), { to: { seq: 3, mention: 0 }, now });
    const position = { to: { seq: 103, mention: 0 }, now: later };
    await notifications.record([...matches(2, 103), ...matches(0, 9, 'wl_deleted')], position);
    assert.deepEqual(await notifications.matchedTo(), { seq: 103, mention: 0 });
    assert.equal((await notifications.list(list.id, 1_000)).length, 103);
    const messages = (await deliveries.list(list.id, { limit: 100 })).toReversed();
    const contents = messages.map((each) => [each.channel, each.notifications, each.dueAt.getUTCMinutes()]);
    // The digest grows to the size of a message; then another one begins.
    assert.deepEqual(contents.toSorted(), casesOf('stack', 'digests'));
    for (const { firstNotification: first, lastNotification: last, notifications: count } of messages)
      assert.equal((await notifications.between(list.id, first, last)).length, count);

    const dueExcept = (lists: string[], receivers: string[], keys: string[] = []) =>
      deliveries.due(later, { limit: 9, keys, lists, receivers });
    assert.deepEqual([...(await dueExcept([list.id], [])), ...(await dueExcept([], [], [key.id]))], []);
    assert.equal((await dueExcept([], [], ['other']))[0]?.keyId, key.id);
    assert.deepEqual(await dueExcept([], ['now.example']), []);
    const [due] = await dueExcept([], ['hour.example']);
    assert.ok(due);
    await deliveries.record(due.id, { state: 'dead', attempts: 10, at: later, status: 500, error: 'answered 500' });
    const dead = await deliveries.list(list.id, { state: 'dead', limit: 9 });
    assert.partialDeepStrictEqual(dead, [{ id: due.id, attempts: 10 }]);
    assert.equal((await deliveries.replay(list.id, due.messageId, later))?.state, 'pending');
    assert.equal(await deliveries.replay('wl_other', due.messageId, later), undefined);

    const query = 'dns:ns1';
    const followed = await store.watchlists.replace({ id: list.id, keyId: key.id }, { ...content, query }, now);
    const page = () => store.watched.withQuery({ after: '', limit: 1, domains: ['b.com', 'c.com'] });
    assert.deepEqual(await page(), [{ id: list.id, query, tier: 'standard', among: ['b.com'] }]);
    await store.watched.follow({ list: { id: list.id, query: 'other', tier: '' }, domains: ['z.com'] }, 9);
    for (const [domains, max] of [[['b.com', 'c.com'], 9] as const, [['d.com'], 3] as const])
      await store.watched.follow({ list: { id: list.id, query, tier: '' }, domains }, max);
    const leaving = (query: string, ...domains: string[]) => ({ list: { id: list.id, query, tier: '' }, domains });
    await store.watched.unfollow([leaving(query, 'a.com', 'd.com'), leaving('other', 'b.com')]);
    assert.deepEqual(await store.watchlists.domainsOf(list.id), ['b.com', 'c.com']);
    const both = [followed, await store.watchlists.find(list.id)];
    const counts = both.map((each) => typeof each === 'object' && each.domainCount);
    assert.deepEqual(counts, [2, 2]);
    await store.watchlists.replace({ id: list.id, keyId: key.id }, content, now);

    await store.keys.revoke(key.id);
    assert.deepEqual(await watching(['a.com']), [[]]);
    const [before, revoked] = [new Date(later.getTime() + 1), new Date(Date.now() - 1_000)];
    assert.equal(await notifications.prune({ before, revoked, limit: 50 }), true);
    assert.equal((await notifications.list(list.id, 1_000)).length, 53);
    assert.equal(await notifications.prune({ before: now, revoked: new Date(Date.now() + 1_000), limit: 50 }), true);
    assert.equal((await notifications.list(list.id, 9)).length + (await store.watchlists.domainsOf(list.id)).length, 0);
  });
});
