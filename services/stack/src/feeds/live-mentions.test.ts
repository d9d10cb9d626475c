// The tally that follows the store: what another process writes and takes away is in it too.
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { newFeed } from '@strata/feeds';
import { createLogger } from '@strata/http';
import { openStore, type Store } from '@strata/store';
import { temporaryDirectory } from '../test/harness.ts';
import { LiveMentions } from './live-mentions.ts';

const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-03-01T12:00:00Z');
const A = 'https://a.example/feed';

async function name(store: Store, domains: readonly string[], at = NOON): Promise<void> {
  await store.feeds.add([{ url: A }], new Date(at));
  const feed = await store.feeds.find(A);
  const items = domains.map((domain, i) => ({
    ...{ key: `${at} ${i}`, url: null, title: null, publishedAt: null },
    domains: [{ domain, kind: 'link' as const }],
  }));
  const options = { at: new Date(at), keepFrom: new Date(0) };
  await store.feeds.record(feed?.id ?? 0, { state: newFeed(A), feed: { items } }, options);
}

describe('the tally of a running service', () => {
  it('counts at its start what the store has, then what another process writes, and forgets what that takes away', async () => {
    await using directory = await temporaryDirectory();
    const url = `sqlite:${path.join(directory.path, 'x.db')}`;
    await using mine = await openStore(url);
    await using theirs = await openStore(url);
    let now = NOON;
    await name(theirs, ['old.com'], NOON - 70 * DAY_MS);
    await name(theirs, ['a.com', 'b.com'], NOON - DAY_MS);
    const told: (readonly string[] | undefined)[] = [];
    const live = await LiveMentions.open({
      store: mine,
      logger: createLogger({ level: 'silent' }),
      now: () => new Date(now),
      onMentions: (domains) => told.push(domains && [...domains].sort()),
    });
    assert.equal(live.tally().size, 2);
    await live.catchUp();
    assert.deepEqual(told, []);

    await name(theirs, ['b.com', 'c.com']);
    await live.catchUp();
    assert.deepEqual(told, [['b.com', 'c.com']]);
    assert.deepEqual(live.tally().domain('b.com', 2).days, [1, 1]);
    await live.catchUp();
    assert.equal(told.length, 1, 'nothing is told twice');

    now += DAY_MS;
    await live.catchUp();
    assert.deepEqual(told.at(-1), undefined, 'with a new day anything may differ');
    assert.deepEqual(live.tally().domain('b.com', 2).days, [1, 0]);

    await theirs.feeds.remove(A);
    await live.catchUp();
    assert.deepEqual([told.length, told.at(-1), live.tally().size], [3, undefined, 0]);
    await name(theirs, ['d.com'], now);
    await live.catchUp();
    assert.deepEqual(told.at(-1), ['d.com']);
  });
});
