// Feeds end to end: a service polls a simulated internet over DNS, HTTP and TLS, and what it keeps is what the feeds contain.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { createInternet, type FeedBehaviour } from '@strata/testnet';
import { startHarness } from '../../../services/stack/src/test/harness.ts';

const DAY_MS = 86_400_000;
const FEEDS = 120;
/** Of these no test can say how much is read. They are tested where feeds are fetched and read. */
const UNKNOWN: readonly FeedBehaviour[] = ['malformed', 'truncated', 'slow', 'endless', 'entity-bomb'];

it('feeds of a simulated internet are kept with every mention and no other, whatever their form', async () => {
  const now = Date.parse('2026-03-10T12:00:00Z');
  const clock = { now: () => new Date(now) };
  await using internet = await createInternet({ domains: 150, feeds: FEEDS, hasFaults: false, ...clock });
  await using service = await startHarness({ internet, settings: { STRATA_FEEDS: 'off' }, world: clock });
  const { app, scheduling } = service.running;
  const subscribed = internet.feeds().filter(({ behaviour }) => !UNKNOWN.includes(behaviour));
  await app.store.feeds.add(subscribed, new Date(now));
  const listed = await app.store.feeds.list({ after: 0, limit: 1_000 });
  const ids = new Map(listed.map(({ id, state }) => [state.url, id]));
  await app.store.feeds.schedule.markAllDue();
  await scheduling?.poller.runDue({ onDone: () => {}, signal: AbortSignal.timeout(120_000) });

  /** `feed kind domain day` of each mention in what the feeds show. */
  const readable = subscribed.filter(({ behaviour }) => behaviour !== 'html-page');
  const shown = readable.flatMap(({ url }) =>
    internet.feedTruth(url).items.flatMap(({ link, content, publishedAt }) => {
      const day = Math.floor(Math.min(publishedAt ?? now, now) / DAY_MS);
      const mentions = [...(link ? [`link ${link}`] : []), ...content.map((domain) => `content ${domain}`)];
      return mentions.map((mention) => `${ids.get(url)} ${mention} ${day}`);
    }),
  );
  using database = new DatabaseSync(path.join(service.directory, 'strata.db'), { readOnly: true });
  const kept = database
    .prepare(
      `select i.feed_id || ' ' || m.kind || ' ' || d.name || ' ' || (m.at / ${DAY_MS}) as mention
       from feed_mentions m join feed_items i on i.id = m.item_id join named_domains d on d.id = m.domain_id`,
    )
    .all()
    .map(({ mention }) => String(mention));
  assert.ok(kept.length > 1_000, `${kept.length} mentions`);
  assert.equal(new Set(readable.map(({ format }) => format)).size, 5, 'every format');
  assert.deepEqual(kept.sort(), shown.sort());
});
