// Feeds end to end: a real service polls a simulated internet over DNS, HTTP and TLS, and what it counts is held against what is there.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Fetcher } from '@strata/scan';
import { openFetcher } from '@strata/stack';
import type { FeedBehaviour, ListedFeed } from '@strata/testnet';
import { dayOf, leadersOf, sumsByDay, within } from '../../support/count-mentions.ts';
import { compareItems, type FoundItem, mentionsOf } from '../../support/kept-items.ts';
import { startTestStack, type TestStack } from '../../support/running-stack.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const FEEDS = 160;
/** What a poll of a feed may take, of which only one that crawls needs the whole. */
const MOST_POLL_MS = 25_000;
/** Nothing in them is a feed. */
const NO_FEEDS: readonly FeedBehaviour[] = ['html-page'];
/** Of these the reader takes as much as it gets, of which the truth tells nothing. */
const READ_IN_PART: readonly FeedBehaviour[] = ['malformed', 'truncated', 'slow', 'endless', 'entity-bomb'];

let stack: TestStack;
let now = Date.parse('2026-03-10T12:00:00Z');
let fetcher: Fetcher;
let bytesRead = 0;
/** Of answers that were whole. */
let readableBytes = 0;
/** By address as subscribed: items that were there when the feed was asked, by what tells them apart. */
const expected = new Map<string, Map<string, FoundItem>>();
const askedTimes = new Map<string, number>();

const feeds = () => stack.running.service.app.store.feeds;
const all = (...behaviours: FeedBehaviour[]): ListedFeed[] =>
  stack.internet.feeds().filter(({ behaviour }) => behaviours.includes(behaviour));
function pollerOf() {
  const { scheduling } = stack.running.service;
  assert.ok(scheduling);
  return scheduling.poller;
}
const aSecond = () => new Promise((resolve) => setTimeout(resolve, 1_050));

/** Polls what is due and has the service take it in; how long each poll took from the start, by address. */
async function poll(): Promise<Map<string, number>> {
  const { pulse } = stack.running.service.app;
  const startedAt = performance.now();
  const took = new Map<string, number>();
  await pollerOf().runDue({
    onDone: ({ state }, result) => {
      assert.notEqual(result, 'trouble', state.url);
      took.set(state.url, performance.now() - startedAt);
    },
    signal: AbortSignal.timeout(120_000),
  });
  await pulse.now();
  await aSecond();
  return took;
}

async function pollAll(): Promise<Map<string, number>> {
  await feeds().askAll();
  const took = await poll();
  for (const feed of stack.internet.feeds()) expectItemsOf(feed);
  return took;
}

/** Takes in what the feed shows, when this request to it is not one of those that it refuses. */
function expectItemsOf({ url, behaviour }: ListedFeed): void {
  const asked = askedTimes.get(url) ?? 0;
  askedTimes.set(url, asked + 1);
  if (behaviour === 'server-errors' && asked % 3 === 1) return;
  if (behaviour === 'too-many-requests' && asked % 2 === 1) return;
  const items = expected.get(url) ?? new Map<string, FoundItem>();
  expected.set(url, items);
  for (const { id, publishedAt, link, content } of stack.internet.feedTruth(url).items) {
    if (items.has(id)) continue;
    const mentions = [...(link ? [`link ${link}`] : []), ...content.map((domain) => `content ${domain}`)];
    items.set(id, { foundAt: now, publishedAt, mentions });
  }
}

function passDays(days: number): void {
  stack.internet.advance(days);
  now += days * DAY_MS;
}

async function get(target: string) {
  const { status, text, body } = await stack.get(`/stack/v1/feeds/${target}`);
  assert.equal(status, 200, text.slice(0, 300));
  return body;
}

/** By address as subscribed: number of the feed, which stays when it moves. */
const numbers = new Map<string, number>();
async function storedFeed(url: string) {
  const id = numbers.get(url);
  const list = await feeds().list({ after: (id ?? 0) - 1, limit: 1 });
  assert.equal(list[0]?.id, id, url);
  return list[0]?.state ?? assert.fail(url);
}

const compare = () =>
  compareItems(path.join(stack.directory, 'strata.db'), expected, {
    numbers,
    unknown: all(...READ_IN_PART).map(({ url }) => url),
  });

const expectedMentions = () => mentionsOf(expected);

async function compareNumbers(): Promise<void> {
  const mentions = expectedMentions();
  const today = dayOf(now);
  for (const [window, days] of [['1d', 1] as const, ['7d', 7] as const, ['30d', 30] as const]) {
    const board = await get(`leaderboard?window=${window}&limit=1000`);
    const leaders = leadersOf(mentions, { last: today, days });
    const told = board.domains.map(({ rank, domain, mentions, feeds, previous_rank }: Record<string, unknown>) => {
      return { rank, domain, mentions, feeds, previous_rank };
    });
    assert.deepEqual(told, leaders, window);
    assert.deepEqual(
      [board.total, board.mentions],
      [leaders.length, within(mentions, { last: today, days }).length],
      window,
    );
  }
  const stats = await get('stats');
  assert.deepEqual(
    [stats.mentions, stats.domains, stats.per_day],
    [
      mentions.length,
      leadersOf(mentions, { last: today, days: 30 }).length,
      sumsByDay(mentions, { last: today, days: 30 }),
    ],
  );
  const [{ domain } = { domain: '' }] = leadersOf(mentions, { last: today, days: 7 });
  const ofDomain = mentions.filter((mention) => mention.domain === domain);
  const profile = await get(`domain/${domain}`);
  assert.deepEqual(
    [profile.mentions, profile.total, profile.per_day],
    [ofDomain.length, new Set(ofDomain.map(({ feed }) => feed)).size, sumsByDay(ofDomain, { last: today, days: 30 })],
  );
}

before(async () => {
  stack = await startTestStack({
    domains: 300,
    feeds: FEEDS,
    now: () => new Date(now),
    config: { isPollingFeeds: false, isFeedScanning: true, feedScansPerDay: 100_000, feedConcurrency: 64 },
    world: (near, config) => {
      fetcher = openFetcher(config, near);
      return {
        ...near,
        now: () => new Date(now),
        fetcher: {
          download: (...parts) => fetcher.download(...parts),
          async fetch(url, request) {
            const answer = await fetcher.fetch(url, request);
            if (answer.kind === 'answered') bytesRead += answer.body.length;
            if (answer.kind === 'answered' && !answer.isTruncated) readableBytes += answer.body.length;
            return answer;
          },
          [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose](),
        },
      };
    },
  });
  await feeds().add(
    stack.internet.feeds().map(({ url }) => ({ url })),
    new Date(now),
  );
  for (const { id, state } of await feeds().list({ after: 0, limit: 1_000 })) numbers.set(state.url, id);
});
after(() => stack?.[Symbol.asyncDispose]());

describe('feeds of a simulated internet', () => {
  it('are read in every form, whatever the others do meanwhile', async (t) => {
    const took = await pollAll();
    assert.equal(took.size, FEEDS);
    const { precision, recall, there, wrong } = compare();
    t.diagnostic(`${there} mentions in ${FEEDS} feeds: precision ${precision * 100} %, recall ${recall * 100} %`);
    assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} differ`);
    assert.deepEqual([precision, recall], [1, 1]);
    assert.ok(there > 3_000, `${there} mentions`);
    const slow = new Set(all('slow').map(({ url }) => url));
    const rest = [...took].filter(([url]) => !slow.has(url)).map(([, ms]) => ms);
    assert.ok(Math.max(...rest) < 15_000, `one that crawls holds nobody up: ${Math.max(...rest)} ms`);
    assert.ok(Math.max(...took.values()) < MOST_POLL_MS);
  });

  it('fail with a reason when they are none', async () => {
    for (const { url } of all(...NO_FEEDS)) {
      const { failures, error, nextPollAt } = await storedFeed(url);
      assert.deepEqual([failures, nextPollAt >= now + HOUR_MS], [1, true], url);
      assert.match(`${error}`, /none of <rss>/);
    }
  });

  it('are read as far as they go when they are cut, broken or without end, and can be removed', async () => {
    for (const { url, behaviour } of all(...READ_IN_PART)) {
      const { failures, error } = await storedFeed(url);
      assert.equal(failures > 0, error !== null, `${behaviour}: ${error}`);
      assert.ok(await feeds().remove(url));
    }
    assert.deepEqual(compare().wrong, []);
    await stack.running.service.app.pulse.now();
    await aSecond();
    const { failing, feeds: kept } = await get('stats');
    assert.deepEqual([failing, kept.total], [all(...NO_FEEDS).length, FEEDS - all(...READ_IN_PART).length]);
  });

  it('have the numbers of a count of the truth', () => compareNumbers());

  it('have domains that are new scanned, and show what they run', async () => {
    const { store, scanner, pulse } = stack.running.service.app;
    const named = new Set(expectedMentions().map(({ domain }) => domain));
    for (const domain of named) assert.ok(await store.isTracked(domain), domain);
    const domain = stack.internet.domains().find((each) => named.has(each)) ?? '';
    assert.equal((await get(`domain/${domain}`)).scanned, null);
    assert.ok((await store.due(new Date(now), 10_000)).includes(domain), 'it waits for its scan');
    await scanner.runAll([domain], { onDone: () => {}, signal: AbortSignal.timeout(30_000) });
    await pulse.now();
    await aSecond();
    const { scanned } = await get(`domain/${domain}`);
    const { body } = await stack.get(`/stack/v1/domains/${domain}`);
    assert.deepEqual([scanned.state, scanned.services], ['active', body.services]);
    assert.ok(scanned.services.length > 0);
    const leader = (await get('leaderboard?window=30d&limit=1000')).domains.find(
      (each: { domain: string }) => each.domain === domain,
    );
    assert.deepEqual([leader.tracked, leader.score], [true, body.security.score]);
  });

  it('cost little when nothing is new', async () => {
    const poller = pollerOf();
    const [bytesBefore, firstBytes, unchangedBefore] = [bytesRead, readableBytes, poller.counts().unchanged];
    now += 2 * HOUR_MS;
    await pollAll();
    const withoutBodies = all('etag', 'last-modified', 'both-validators', 'max-age');
    for (const { url } of withoutBodies)
      assert.deepEqual(stack.internet.feedRequests(url), { requests: 2, notModified: 1 }, url);
    const unchanged = poller.counts().unchanged - unchangedBefore;
    assert.ok(unchanged >= withoutBodies.length + all('no-validators').length, `${unchanged} unchanged`);
    const secondBytes = bytesRead - bytesBefore;
    assert.ok(secondBytes < firstBytes / 3, `${secondBytes} bytes after ${firstBytes}`);
    assert.deepEqual(compare().wrong, []);
    await compareNumbers();
  });

  it('are kept under the address to which they moved for good, and no other', async () => {
    for (const { url } of all('moved-permanently')) {
      const { url: moved } = await storedFeed(url);
      assert.notEqual(moved, url);
      assert.equal(await feeds().find(url), undefined);
      assert.deepEqual(
        [stack.internet.feedRequests(url).requests, stack.internet.feedRequests(moved).requests],
        [1, 2],
      );
    }
    for (const { url } of all('moved-temporarily')) {
      assert.deepEqual([(await storedFeed(url)).url, stack.internet.feedRequests(url).requests], [url, 2]);
    }
  });

  it('are left alone for as long as a server asks that is asked too often', async () => {
    const refused = all('too-many-requests');
    for (const { url } of refused) {
      const { error, nextPollAt } = await storedFeed(url);
      assert.match(`${error}`, /429/);
      assert.ok(nextPollAt >= now + HOUR_MS, `${nextPollAt - now} ms`);
    }
    now += HOUR_MS / 2;
    const took = await poll();
    for (const { url } of refused) assert.equal(took.has(url), false, url);
    assert.deepEqual(compare().wrong, []);
  });

  it('bring what is new as days pass, miss some days, and end', async () => {
    const before = expectedMentions().length;
    passDays(1);
    await pollAll();
    assert.deepEqual(compare().wrong, []);
    assert.ok(expectedMentions().length > before);
    await compareNumbers();
    const [missing] = all('missing-for-days');
    passDays(1);
    await pollAll();
    assert.match(`${(await storedFeed(missing?.url ?? '')).error}`, /404/);
    await compareNumbers();
    passDays(2);
    await pollAll();
    assert.equal((await storedFeed(missing?.url ?? '')).error, null);
    passDays(2);
    await pollAll();
    const gone = all('gone');
    for (const { url } of gone) assert.equal((await storedFeed(url)).status, 'gone');
    const { precision, recall, there, wrong } = compare();
    assert.deepEqual([precision, recall, wrong], [1, 1, []], `${there} mentions`);
    await compareNumbers();
    assert.equal((await get('stats')).feeds.gone, gone.length);
    const asked = stack.internet.feedRequests(gone[0]?.url ?? '').requests;
    await pollAll();
    assert.equal(stack.internet.feedRequests(gone[0]?.url ?? '').requests, asked, 'nobody asks again');
  });
});
