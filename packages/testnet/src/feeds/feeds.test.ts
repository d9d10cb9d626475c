import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createInternet, type Internet } from '../internet.ts';
import { ask } from '../test/ask.ts';
import { clockAt } from '../test/use.ts';

const DAY_MS = 86_400_000;
const STARTED_AT = Date.parse('2026-03-10T15:20:00Z');

const urlOf = (internet: Internet, kind: string) =>
  internet.feeds().find(({ behaviour }) => behaviour === kind)?.url ?? '';

/** The content of all feeds, without what depends on the time of day. */
const contentOf = (internet: Internet) => internet.feeds().map(({ url }) => [url, internet.feedTruth(url)]);

describe('the feeds of the simulated internet', () => {
  it('are the same for the same seed and clock, and different for another seed', async () => {
    const options = { domains: 120, now: () => new Date(STARTED_AT) };
    await using one = await createInternet(options);
    await using same = await createInternet(options);
    await using other = await createInternet({ ...options, seed: 'another' });
    assert.deepEqual(contentOf(same), contentOf(one));
    assert.notDeepEqual(contentOf(other), contentOf(one));
    for (const net of [one, same]) net.advance(3);
    assert.deepEqual(contentOf(same), contentOf(one));
    const [first, second] = [await ask(one, urlOf(one, 'etag')), await ask(same, urlOf(one, 'etag'))];
    assert.ok(first.body.equals(second.body) && first.headers.etag === second.headers.etag);
  });
  it('are on working sites of companies and additional publishers, several on each if there are many', async () => {
    await using few = await createInternet({ domains: 150 });
    await using many = await createInternet({ domains: 150, feeds: 600 });
    assert.deepEqual(many.feeds().slice(0, 40), few.feeds());
    assert.equal(new Set(many.feeds().map(({ url }) => url)).size, 600);
    const companies = new Set(many.domains());
    const added = many.feeds().filter(({ publisher }) => !companies.has(publisher));
    assert.equal(added.length, 75);
    for (const { publisher } of many.feeds())
      if (companies.has(publisher)) assert.equal(many.truth(publisher).state, 'active', publisher);
    assert.throws(() => many.truth(added[0]?.publisher ?? ''), RangeError);
    assert.throws(() => many.feedTruth('https://unknown.example/feed.xml'), RangeError);
    assert.throws(() => many.feedTruth('__proto__'), RangeError);
  });
  it('are fewer, or absent, without enough publishers', async () => {
    await using none = await createInternet({ domains: 30, feeds: 0 });
    await using tiny = await createInternet({ domains: 1, feeds: 10 });
    assert.deepEqual(none.feeds(), []);
    assert.ok(tiny.feeds().length <= 10);
  });
});

it('the items of feeds advance with the clock day by day as the demo sets it, from a month before', async () => {
  const today = Math.floor(STARTED_AT / DAY_MS) * DAY_MS;
  const clock = clockAt(today - 29 * DAY_MS + 5_000_000);
  await using internet = await createInternet({ domains: 120, now: clock.now });
  const itemsOf = (url: string) => internet.feedTruth(url).items;
  const urls = internet.feeds().flatMap(({ behaviour, url }) => (behaviour === 'etag' ? [url] : []));
  const [url = ''] = urls
    .filter((each) => itemsOf(each).some(({ publishedAt }) => publishedAt !== null))
    .sort((a, b) => itemsOf(b).length - itemsOf(a).length);
  const items = new Map<string, string>();
  let changes = 0;
  let etag = '';
  for (let day = 28; day > 0; day -= 1) {
    if (day < 28) internet.advance(1);
    for (const hour of [8, 16]) {
      clock.at = today - day * DAY_MS + hour * 3_600_000;
      const { headers } = await ask(internet, url.replace('https:', 'http:'));
      if (etag !== headers.etag) changes += 1;
      etag = String(headers.etag);
      for (const item of itemsOf(url)) {
        const at = item.publishedAt ?? 0;
        // A new item is of this day or, rarely, dated later; only the first request finds older ones.
        if (!items.has(item.id) && day < 28)
          assert.ok(at >= today - day * DAY_MS && (at <= clock.at || at > clock.at + 2 * DAY_MS), item.id);
        assert.equal(items.get(item.id) ?? JSON.stringify(item), JSON.stringify(item));
        items.set(item.id, JSON.stringify(item));
      }
    }
  }
  assert.ok(changes >= 4 && changes <= 28, `${changes} changes in 28 days`);
  const times = [...items.values()].map((text) => Number(/"publishedAt":(\d+)/.exec(text)?.[1]));
  assert.ok(Math.min(...times) < today - 30 * DAY_MS, 'there are items from before day 0');
});
