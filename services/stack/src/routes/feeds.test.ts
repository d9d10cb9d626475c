// Feeds over HTTP: numbers counted by hand under a clock of the test, from polls to answers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeWeb, fakeWeb } from '../test/fake-web.ts';
import { company, type Harness } from '../test/harness.ts';
import { sharedInternet, startAging } from '../test/shared.ts';

const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-03-10T12:00:00Z');
const A = 'https://a.example/feed';
const B = 'https://b.example/feed';
const C = 'https://c.example/feed';

let service: Harness;
let age: () => void;
let web: FakeWeb;
let now = NOON;
const ago = (days: number) => new Date(NOON - days * DAY_MS);

/** Polls every feed and lets the service take it in. */
async function poll(): Promise<void> {
  const { app, scheduling } = service.running.service;
  const { pulse, store } = app;
  await store.feeds.askAll();
  await scheduling?.poller.runDue({ onDone: () => {}, signal: new AbortController().signal });
  await pulse.now();
  age();
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
async function get(target: string): Promise<any> {
  const answer = await service.get(`/stack/v1/feeds/${target}`);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  return answer.body;
}
// biome-ignore lint/suspicious/noExplicitAny: as above
const board = ({ domains }: any) =>
  domains.map((each: Record<string, unknown>) => [
    each.rank,
    each.domain,
    each.mentions,
    each.feeds,
    each.previous_rank,
    each.movement,
  ]);

describe('numbers of feeds', () => {
  before(async () => {
    web = fakeWeb();
    ({ service, age } = await startAging({
      internet: await sharedInternet(),
      settings: { STRATA_FEEDS: 'off' },
      world: { now: () => new Date(now), fetcher: web.fetcher },
    }));
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('are zeros everywhere where no feed is subscribed to', async () => {
    const stats = await get('stats');
    assert.deepEqual(stats.feeds, { total: 0, active: 0, gone: 0 });
    assert.deepEqual([stats.items, stats.domains, stats.top_domains, stats.last_poll], [0, 0, [], null]);
    assert.equal(stats.per_day.length, 30);
    assert.deepEqual(stats.per_day.at(-1), { date: '2026-03-10', mentions: 0 });
    const leaders = await get('leaderboard');
    assert.deepEqual([leaders.window, leaders.limit, leaders.total, leaders.domains], ['7d', 20, 0, []]);
    const profile = await get('domain/never-named.com');
    assert.deepEqual(
      [profile.mentions, profile.total, profile.first_seen, profile.last_seen, profile.feeds, profile.scanned],
      [0, 0, null, null, [], null],
    );
    assert.ok(profile.windows.every((each: { trend: string }) => each.trend === 'none'));
  });

  it('are those of a count by hand: the leaderboard, its movement and its shares', async () => {
    web.pages.set(A, [
      { guid: '1', at: ago(0), links: ['top.com', 'second.com'], title: 'Newest', link: 'https://linked.com/post' },
      { guid: '2', at: ago(1), links: ['top.com'] },
      { guid: '3', at: ago(6), links: ['top.com'] },
      { guid: '4', at: ago(8), links: ['second.com'] },
      { guid: '5', at: ago(9), links: ['second.com'] },
      { guid: '6', at: ago(40), links: ['old.com'] },
    ]);
    web.pages.set(B, [
      { guid: '1', at: ago(2), links: ['top.com', 'third.com'] },
      { guid: '2', links: ['undated.com'] },
    ]);
    web.pages.set(C, 410);
    await service.running.service.app.store.feeds.add(
      [A, B, C].map((url) => ({ url })),
      new Date(now),
    );
    await poll();
    const leaders = await get('leaderboard?limit=10');
    assert.deepEqual(board(leaders), [
      [1, 'top.com', 4, 2, null, null],
      [2, 'linked.com', 1, 1, null, null],
      [2, 'second.com', 1, 1, 1, -1],
      [2, 'third.com', 1, 1, null, null],
      [2, 'undated.com', 1, 1, null, null],
    ]);
    assert.deepEqual([leaders.total, leaders.mentions, leaders.domains[0].share], [5, 8, 0.5]);
    assert.deepEqual(board(await get('leaderboard?window=1d&limit=2')), [
      [1, 'linked.com', 1, 1, null, null],
      [1, 'second.com', 1, 1, null, null],
    ]);
    const month = await get('leaderboard?window=30D&limit=2');
    assert.deepEqual(board(month), [
      [1, 'top.com', 4, 2, null, null],
      [2, 'second.com', 3, 1, null, null],
    ]);
    assert.deepEqual([month.total, month.mentions], [5, 10]);
  });

  it('are those of a count by hand: the statistics', async () => {
    const stats = await get('stats');
    assert.deepEqual(stats.feeds, { total: 3, active: 2, gone: 1 });
    assert.deepEqual([stats.polled, stats.failing, stats.items, stats.mentions, stats.domains], [2, 0, 8, 11, 5]);
    assert.equal(stats.last_poll, '2026-03-10T12:00:00.000Z');
    const days = Object.fromEntries(
      stats.per_day.map((each: { date: string; mentions: number }) => [each.date, each.mentions]),
    );
    assert.deepEqual(
      [days['2026-03-10'], days['2026-03-09'], days['2026-03-08'], days['2026-03-04'], days['2026-03-02']],
      [4, 1, 2, 1, 1],
    );
    assert.deepEqual(stats.top_domains.length, 5);
  });

  it('are those of a count by hand: the profile of a domain', async () => {
    const profile = await get('domain/www.TOP.com');
    assert.deepEqual([profile.domain, profile.mentions, profile.total], ['top.com', 4, 2]);
    assert.deepEqual([profile.first_seen, profile.last_seen], [ago(6).toISOString(), ago(0).toISOString()]);
    assert.deepEqual(profile.windows, [
      { window: '1d', mentions: 1, feeds: 1, previous: 1, change: 0, trend: 'same' },
      { window: '7d', mentions: 4, feeds: 2, previous: 0, change: 4, trend: 'new' },
      { window: '30d', mentions: 4, feeds: 2, previous: 0, change: 4, trend: 'new' },
    ]);
    assert.deepEqual(
      profile.per_day.slice(-7).map((each: { mentions: number }) => each.mentions),
      [1, 0, 0, 0, 1, 1, 1],
    );
    assert.deepEqual(
      profile.feeds.map((each: Record<string, unknown>) => [each.url, each.mentions, each.latest]),
      [
        [A, 3, { title: 'Newest', url: 'https://linked.com/post', published: ago(0).toISOString() }],
        [B, 1, { title: '1', url: null, published: ago(2).toISOString() }],
      ],
    );
    const second = await get('domain/second.com');
    const down = { window: '7d', mentions: 1, feeds: 1, previous: 2, change: -1, trend: 'down' };
    assert.deepEqual(second.windows[1], down);
    assert.equal((await get('domain/old.com')).windows[2].previous, 1);
  });

  it('say what a scan says, once there was one', async () => {
    const named = company(await sharedInternet(), 1);
    web.pages.set(A, [{ guid: 'scan', at: ago(0), links: [named] }]);
    now += 7_200_000;
    await poll();
    const find = async () =>
      (await get('leaderboard?limit=1000')).domains.find((each: { domain: string }) => each.domain === named);
    const before = await find();
    assert.deepEqual([before.tracked, before.score, before.grade], [false, null, null]);
    assert.equal((await get(`domain/${named}`)).scanned, null);
    await service.scan(named);
    await service.running.service.app.pulse.now();
    age();
    const { scanned } = await get(`domain/${named}`);
    const { body } = await service.get(`/stack/v1/domains/${named}`);
    assert.deepEqual(scanned.services, body.services);
    const found = await find();
    const { score, grade } = body.security as { score: number; grade: string };
    assert.deepEqual([found.tracked, found.score, found.grade, scanned.score], [true, score, grade, score]);
  });

  it('keep their receipt until something is named, and then differ', async () => {
    const receipt = async (target: string) => (await get(target)).provenance.receipt_id;
    age();
    const [top, leaders] = [await receipt('domain/top.com'), await receipt('leaderboard?limit=7')];
    web.pages.set(B, [{ guid: 'fresh', at: new Date(now), links: ['fresh.com'] }]);
    now += 7_200_000;
    await poll();
    assert.equal(await receipt('domain/top.com'), top, 'it was not named');
    assert.notEqual(await receipt('leaderboard?limit=7'), leaders);
  });

  it('move on with the day, also when nothing comes', async () => {
    now = NOON + 6 * DAY_MS;
    await service.running.service.app.pulse.now();
    age();
    const profile = await get('domain/top.com');
    assert.deepEqual(
      [profile.per_day.at(-1).date, profile.windows[1].mentions, profile.windows[1].previous],
      ['2026-03-16', 1, 3],
    );
    const leaders = await get('leaderboard?limit=50');
    const top = leaders.domains.find((each: { domain: string }) => each.domain === 'top.com');
    assert.deepEqual([top.mentions, top.previous_rank], [1, 1]);
  });

  it('are the same after a restart, and follow what another process takes away', async () => {
    const told = async () => {
      const { provenance: _, ...body } = await get('leaderboard?limit=100');
      return body;
    };
    const before = await told();
    await service.restart();
    assert.deepEqual(await told(), before);
    await service.running.service.app.store.feeds.remove(A);
    await service.running.service.app.pulse.now();
    age();
    assert.equal((await get('domain/second.com')).mentions, 0);
    assert.deepEqual((await get('domain/top.com')).windows[2].mentions, 1);
  });
});
