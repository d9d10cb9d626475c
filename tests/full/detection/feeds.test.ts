// Feeds end to end: a service polls a simulated internet over DNS, HTTP and TLS, and what it keeps and counts is what the feeds contain.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { createInternet, type FeedBehaviour, type Internet } from '@strata/testnet';
import { type Harness, startHarness } from '../../../services/stack/src/test/harness.ts';

const DAY_MS = 86_400_000;
const FEEDS = 120;
/** Of these no test can say how much is read. They are tested where feeds are fetched and read. */
const UNKNOWN: readonly FeedBehaviour[] = ['malformed', 'truncated', 'slow', 'endless', 'entity-bomb'];

describe('feeds of a simulated internet', () => {
  let internet: Internet;
  let service: Harness;
  const now = Date.parse('2026-03-10T12:00:00Z');
  const subscribed = () => internet.feeds().filter(({ behaviour }) => !UNKNOWN.includes(behaviour));
  const readable = () => subscribed().filter(({ behaviour }) => behaviour !== 'html-page');
  const feeds = () => service.running.app.store.feeds;
  const ids = new Map<string, number>();

  before(async () => {
    internet = await createInternet({ domains: 150, feeds: FEEDS, hasFaults: false, now: () => new Date(now) });
    service = await startHarness({ internet, settings: { STRATA_FEEDS: 'off' }, world: { now: () => new Date(now) } });
    const subscriptions = subscribed().map(({ url }) => ({ url }));
    await feeds().add(subscriptions, new Date(now));
    for (const { id, state } of await feeds().list({ after: 0, limit: 1_000 })) ids.set(state.url, id);
    await poll();
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  async function poll(): Promise<void> {
    await feeds().schedule.markAllDue();
    await service.running.scheduling?.poller.runDue({ onDone: () => {}, signal: AbortSignal.timeout(120_000) });
    await service.running.updateLoop.run();
  }

  /** `feed kind domain day` of each mention in what the feeds show. */
  const shown = () =>
    readable().flatMap(({ url }) =>
      internet.feedTruth(url).items.flatMap(({ link, content, publishedAt }) => {
        const day = Math.floor(Math.min(publishedAt ?? now, now) / DAY_MS);
        const mentions = [...(link ? [`link ${link}`] : []), ...content.map((domain) => `content ${domain}`)];
        return mentions.map((mention) => `${ids.get(url)} ${mention} ${day}`);
      }),
    );
  it('are kept with every mention and no other, whatever their form', () => {
    using database = new DatabaseSync(path.join(service.directory, 'strata.db'), { readOnly: true });
    const kept = database
      .prepare(
        `select i.feed_id || ' ' || m.kind || ' ' || d.name || ' ' || (m.at / ${DAY_MS}) as mention
         from feed_mentions m join feed_items i on i.id = m.item_id join named_domains d on d.id = m.domain_id`,
      )
      .all()
      .map(({ mention }) => String(mention));
    assert.ok(kept.length > 1_000, `${kept.length} mentions`);
    assert.equal(new Set(readable().map(({ format }) => format)).size, 5, 'every format');
    assert.deepEqual(kept.sort(), shown().sort());
  });
  it('are counted in the leaderboard', async () => {
    const { body } = await service.get('/stack/v1/feeds/leaderboard?window=30d&limit=1000');
    const today = Math.floor(now / DAY_MS);
    const counts = new Map<string, number>();
    for (const [, , domain = '', day] of shown().map((line) => line.split(' ')))
      if (Number(day) > today - 30) counts.set(domain, (counts.get(domain) ?? 0) + 1);
    const listed = body.domains as readonly { readonly domain: string; readonly mentions: number }[];
    assert.deepEqual(new Map(listed.map(({ domain, mentions }) => [domain, mentions])), counts);
  });
  it('are asked without their body when nothing is new', async () => {
    await poll();
    const validated = readable().filter(({ behaviour }) => /^(?:etag|last-modified|both-validators)$/.test(behaviour));
    assert.ok(validated.length > 0);
    for (const { url } of validated) assert.deepEqual(internet.feedRequests(url), { requests: 2, notModified: 1 }, url);
  });
});
