// Feeds over HTTP: numbers counted by hand under a clock of the test, from polls to answers. The tally itself: packages/feeds.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shared } from '../../../../tests/support/shared.ts';
import { company, fakeWeb, sharedInternet, startAging } from '../test/index.ts';

const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-03-10T12:00:00Z');
const A = 'https://a.example/feed';
const B = 'https://b.example/feed';
const C = 'https://c.example/feed';

const web = fakeWeb();
let now = NOON;
const { service, age } = await shared(async () => {
  const world = { now: () => new Date(now), fetcher: web.fetcher };
  return startAging({ internet: await sharedInternet(), settings: { STRATA_FEEDS: 'off' }, world });
})();
const ago = (days: number) => new Date(NOON - days * DAY_MS);

async function update(): Promise<void> {
  await service.running.updateLoop.run();
  age();
}
/** Polls every feed and lets the service process it. */
async function poll(): Promise<void> {
  const { app, scheduling } = service.running;
  await app.store.feeds.schedule.markAllDue();
  await scheduling?.poller.runDue({ onDone: () => {}, signal: new AbortController().signal });
  await update();
}
// biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies whose shape is what they test
async function get(target: string): Promise<any> {
  const answer = await service.get(`/stack/v1/feeds/${target}`);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  return answer.body;
}
async function board(query: string) {
  const { domains } = await get(`leaderboard?${query}`);
  return domains.map((each: Record<string, unknown>) =>
    [each.rank, each.domain, each.mentions, each.feeds, each.previous_rank, each.movement].join(' '),
  );
}
const inBoard = async (domain: string) =>
  (await get('leaderboard?limit=1000')).domains.find((each: { domain: string }) => each.domain === domain);

it('numbers of feeds are zeros everywhere where no feed is subscribed to', async () => {
  const stats = await get('stats');
  assert.deepEqual(stats.feeds, { total: 0, active: 0, gone: 0 });
  assert.deepEqual([stats.items, stats.domains, stats.top_domains, stats.last_poll], [0, 0, [], null]);
  assert.deepEqual([stats.per_day.length, stats.per_day.at(-1)], [30, { date: '2026-03-10', mentions: 0 }]);
  const leaders = await get('leaderboard');
  assert.deepEqual([leaders.window, leaders.limit, leaders.total, leaders.domains], ['7d', 20, 0, []]);
  const { mentions, total, first_seen, last_seen, feeds, scanned, windows } = await get('domain/never-named.com');
  assert.deepEqual([mentions, total, first_seen, last_seen, feeds, scanned], [0, 0, null, null, [], null]);
  assert.ok(windows.every((each: { trend: string }) => each.trend === 'none'));
});

it('numbers of feeds are those of a count by hand: the leaderboard, its movement and its shares', async () => {
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
  const feeds = [A, B, C].map((url) => ({ url }));
  await service.running.app.store.feeds.add(feeds, new Date(now));
  await poll();
  const week = ['1 top.com 4 2  ', '2 linked.com 1 1  ', '2 second.com 1 1 1 -1', '2 third.com 1 1  '];
  assert.deepEqual(await board('limit=10'), [...week, '2 undated.com 1 1  ']);
  const { total, mentions, domains } = await get('leaderboard?limit=10');
  assert.deepEqual([total, mentions, domains[0].share, domains[0].movement], [5, 8, 0.5, null]);
  assert.deepEqual(await board('window=1d&limit=2'), ['1 linked.com 1 1  ', '1 second.com 1 1  ']);
  assert.deepEqual(await board('window=30D&limit=2'), ['1 top.com 4 2  ', '2 second.com 3 1  ']);
  const paged: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await get(`leaderboard?limit=2${cursor && `&cursor=${cursor}`}`);
    paged.push(...page.domains);
    cursor = page.next_cursor;
  }
  assert.deepEqual(paged, (await get('leaderboard?limit=1000')).domains);
  const month = await get('leaderboard?window=30D&limit=2');
  assert.deepEqual([month.total, month.mentions], [5, 10]);
});

it('numbers of feeds are those of a count by hand: the statistics', async () => {
  const stats = await get('stats');
  assert.deepEqual(stats.feeds, { total: 3, active: 2, gone: 1 });
  assert.deepEqual([stats.polled, stats.failing, stats.items, stats.mentions, stats.domains], [2, 0, 8, 11, 5]);
  assert.deepEqual([stats.last_poll, stats.top_domains.length], ['2026-03-10T12:00:00.000Z', 5]);
  const days = stats.per_day.map(({ date, mentions }: Record<string, unknown>) => `${date} ${mentions}`);
  const named = days.filter((day: string) => !day.endsWith(' 0')).map((day: string) => day.replace('2026-', ''));
  assert.equal(named.join(), '03-01 1,03-02 1,03-04 1,03-08 2,03-09 1,03-10 4');
});

it('numbers of feeds are those of a count by hand: the profile of a domain', async () => {
  const profile = await get('domain/www.TOP.com');
  assert.deepEqual([profile.domain, profile.mentions, profile.total], ['top.com', 4, 2]);
  assert.deepEqual([profile.first_seen, profile.last_seen], [ago(6).toISOString(), ago(0).toISOString()]);
  const many = { mentions: 4, feeds: 2, previous: 0, change: 4, trend: 'new' };
  assert.deepEqual(profile.windows, [
    { window: '1d', mentions: 1, feeds: 1, previous: 1, change: 0, trend: 'same' },
    { window: '7d', ...many },
    { window: '30d', ...many },
  ]);
  const perDay = profile.per_day.map((each: { mentions: number }) => each.mentions);
  assert.deepEqual(perDay.slice(-7), [1, 0, 0, 0, 1, 1, 1]);
  const [newest, first] = [ago(0), ago(2)].map((date) => date.toISOString());
  const feeds = profile.feeds.map((each: Record<string, unknown>) => [each.url, each.mentions, each.latest]);
  assert.deepEqual(feeds, [
    [A, 3, { title: 'Newest', url: 'https://linked.com/post', published: newest }],
    [B, 1, { title: '1', url: null, published: first }],
  ]);
  const page = await get('domain/top.com?limit=1');
  const rest = await get(`domain/top.com?limit=1&cursor=${page.next_cursor}`);
  assert.deepEqual([[...page.feeds, ...rest.feeds], rest.offset, rest.next_cursor], [profile.feeds, 1, null]);
  const down = { window: '7d', mentions: 1, feeds: 1, previous: 2, change: -1, trend: 'down' };
  assert.deepEqual((await get('domain/second.com')).windows[1], down);
  assert.equal((await get('domain/old.com')).windows[2].previous, 1);
});

it('numbers of feeds have what a scan found, once there was one', async () => {
  const named = company(await sharedInternet(), 1);
  web.pages.set(A, [{ guid: 'scan', at: ago(0), links: [named] }]);
  now += 7_200_000;
  await poll();
  const before = await inBoard(named);
  assert.deepEqual([before.tracked, before.score, before.grade], [false, null, null]);
  assert.equal((await get(`domain/${named}`)).scanned, null);
  await service.scan(named);
  await update();
  const { scanned } = await get(`domain/${named}`);
  const { body } = await service.get(`/stack/v1/domains/${named}`);
  const { score, grade } = body.security as { score: number; grade: string };
  assert.deepEqual([scanned.services, scanned.score], [body.services, score]);
  assert.partialDeepStrictEqual(await inBoard(named), { tracked: true, score, grade });
});

it('numbers of feeds keep their receipt until something is named, and then differ', async () => {
  const receipt = async (target: string) => (await get(target)).provenance.receipt_id;
  age();
  const [top, leaders] = [await receipt('domain/top.com'), await receipt('leaderboard?limit=7')];
  web.pages.set(B, [{ guid: 'fresh', at: new Date(now), links: ['fresh.com'] }]);
  now += 7_200_000;
  await poll();
  assert.equal(await receipt('domain/top.com'), top, 'it was not named');
  assert.notEqual(await receipt('leaderboard?limit=7'), leaders);
});

it('numbers of feeds move on with the day, also when nothing comes', async () => {
  now = NOON + 6 * DAY_MS;
  await update();
  const { per_day, windows } = await get('domain/top.com');
  assert.deepEqual([per_day.at(-1).date, windows[1].mentions, windows[1].previous], ['2026-03-16', 1, 3]);
  assert.partialDeepStrictEqual(await inBoard('top.com'), { mentions: 1, previous_rank: 1 });
});
