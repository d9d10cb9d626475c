// What the feed routes refuse, and a service that polls by itself: its list, its bounds, its stop, its restart.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { fakeWeb } from '../test/fake-web.ts';
import { type Harness, smallInternet, startHarness, temporaryDirectory } from '../test/harness.ts';

const A = 'https://a.example/feed';
let internet: Internet;
let service: Harness;
before(async () => {
  internet = await smallInternet();
  service = await startHarness({ internet, settings: { STRATA_FEEDS: 'off' } });
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

describe('parameters of the feed routes', () => {
  it('are refused by name when they make no sense', async () => {
    const refused = [
      ...['0', '1001', '-1', '', 'x', '1.5', '1e2', '9'.repeat(400)].map((value) => [
        `leaderboard?limit=${value}`,
        'limit',
      ]),
      ...['', '2d', '__proto__', 'constructor', '7', '%00', '7d%00', 'x'.repeat(5_000)].map((value) => [
        `leaderboard?window=${value}`,
        'window',
      ]),
      ['leaderboard?window=7d&window=1d', 'window'],
    ];
    for (const [target, field] of refused) {
      const { status, body } = await service.get(`/stack/v1/feeds/${target}`);
      assert.equal(status, 400, target?.slice(0, 80));
      assert.ok(
        body.errors?.some((error) => error.field === field),
        target?.slice(0, 80),
      );
    }
    for (const name of [
      'com',
      '192.0.2.1',
      'a..b',
      'not%20a%20name',
      `${'x'.repeat(300)}.com`,
      '%00',
      '__proto__',
      '-x.com',
    ]) {
      const { status, body } = await service.get(`/stack/v1/feeds/domain/${name}`);
      assert.deepEqual([status, body.code], [400, 'invalid_domain'], name.slice(0, 80));
    }
  });

  it('need a key', async () => {
    for (const target of ['stats', 'leaderboard', 'domain/x.com'])
      assert.equal((await service.ask(`/stack/v1/feeds/${target}`)).status, 401);
  });
});

describe('a service that polls', () => {
  it('subscribes to its list, polls, gives new domains to the scan, as many as it may, and stops', async () => {
    await using directory = await temporaryDirectory();
    const list = path.join(directory.path, 'feeds.txt');
    const optOut = path.join(directory.path, 'opt-out.txt');
    await writeFile(list, `# mine\n${A}\nnot an address\nftp://x.example/\n`);
    await writeFile(optOut, 'never.com\n');
    const world = fakeWeb();
    world.pages.set(A, [{ guid: '1', links: ['never.com', 'one.com', 'two.com', 'three.com'] }]);
    await using polling = await startHarness({
      internet,
      settings: {
        STRATA_FEEDS_FILE: list,
        STRATA_OPT_OUT_FILE: optOut,
        STRATA_FEED_SCAN: 'on',
        STRATA_FEED_SCAN_PER_DAY: '2',
      },
      world: { fetcher: world.fetcher },
    });
    const { app, metrics } = polling.running.service;
    const until = performance.now() + 5_000;
    while ((await app.store.counts()).domains < 2 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const tracked = await Promise.all(
      ['never.com', 'one.com', 'two.com', 'three.com'].map((name) => app.store.isTracked(name)),
    );
    assert.deepEqual(tracked, [false, false, true, true]);
    assert.deepEqual(world.asked, [A]);
    assert.match(await metrics.registry.metrics(), /strata_feed_polls 1\n/);
  });

  it('does not start with a list that it cannot read', async () => {
    await assert.rejects(
      startHarness({ internet, settings: { STRATA_FEEDS_FILE: '/no/such/file' } }),
      /cannot read the feeds of .+STRATA_FEEDS_FILE/,
    );
  });

  it('closes the fetcher that it was given when it ends', async () => {
    const closes: string[] = [];
    const fetcher = { ...fakeWeb().fetcher, [Symbol.asyncDispose]: async () => void closes.push('fetcher') };
    await (await startHarness({ internet, world: { fetcher } }))[Symbol.asyncDispose]();
    assert.deepEqual(closes, ['fetcher']);
  });

  it('stops at once while polls hang, and asks again after its restart', async () => {
    const world = fakeWeb();
    const asked: string[] = [];
    const hangs = {
      ...world.fetcher,
      fetch: (url: string, { signal }: { readonly signal?: AbortSignal }) => {
        asked.push(url);
        return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    await using polling = await startHarness({ internet, world: { fetcher: hangs } });
    await polling.running.service.app.store.feeds.add([{ url: A }], new Date());
    const askedTimes = async (times: number) => {
      const until = performance.now() + 5_000;
      while (asked.length < times && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(asked.length, times);
    };
    await askedTimes(1);
    const startedAt = performance.now();
    await polling.restart();
    assert.ok(performance.now() - startedAt < 5_000);
    await askedTimes(2);
  });
});
