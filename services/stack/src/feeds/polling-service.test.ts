// A service that polls by itself: its list, its bounds, its stop, its restart.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { temporaryDirectory, until } from '../../../../tests/support/index.ts';
import { fakeWeb, sharedInternet, startHarness } from '../test/index.ts';

const A = 'https://a.example/feed';

it('a service that polls subscribes to its list, polls, gives new domains to the scan, as many as it may, and stops', async () => {
  await using directory = await temporaryDirectory();
  const list = path.join(directory.path, 'feeds.txt');
  const optOut = path.join(directory.path, 'opt-out.txt');
  await writeFile(list, `# mine\n${A}\nnot an address\nftp://x.example/\n`);
  await writeFile(optOut, 'never.com\n');
  const world = fakeWeb();
  world.pages.set(A, [{ guid: '1', links: ['never.com', 'one.com', 'two.com', 'three.com'] }]);
  const files = { STRATA_FEEDS: `file=${list}`, STRATA_OPT_OUT_FILE: optOut };
  await using polling = await startHarness({
    internet: await sharedInternet(),
    settings: { ...files, STRATA_SCAN_OPTIONS: 'mentioned=on,mentioned-per-day=2' },
    world: { fetcher: world.fetcher },
  });
  const { app, metrics } = polling.running;
  await until(async () => (await app.store.inspection.counts()).domains >= 2);
  const tracked = ['never.com', 'one.com', 'two.com', 'three.com'].map((name) => app.store.domains.isTracked(name));
  assert.deepEqual(await Promise.all(tracked), [false, false, true, true]);
  assert.deepEqual(world.asked, [A]);
  assert.match(await metrics.registry.metrics(), /strata_feed_polls 1\n/);
});
it('a service that polls does not start with a list that it cannot read', async () =>
  await assert.rejects(
    startHarness({ internet: await sharedInternet(), settings: { STRATA_FEEDS: 'file=/no/such/file' } }),
    /cannot read the feeds of .+STRATA_FEEDS/,
  ));

it('a service that polls closes the fetcher that it was given when it ends', async () => {
  const closes: string[] = [];
  const fetcher = { ...fakeWeb().fetcher, [Symbol.asyncDispose]: async () => void closes.push('fetcher') };
  await (await startHarness({ internet: await sharedInternet(), world: { fetcher } }))[Symbol.asyncDispose]();
  assert.deepEqual(closes, ['fetcher']);
});
it('a service that polls stops at once while polls hang, and asks again after its restart', async () => {
  const world = fakeWeb();
  const asked: string[] = [];
  const hangs = {
    ...world.fetcher,
    fetch: (url: string, { signal }: { readonly signal?: AbortSignal }) => {
      asked.push(url);
      return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  await using polling = await startHarness({ internet: await sharedInternet(), world: { fetcher: hangs } });
  await polling.running.app.store.feeds.add([{ url: A }], new Date());
  await until(() => asked.length === 1);
  const startedAt = performance.now();
  await polling.restart();
  assert.ok(performance.now() - startedAt < 30_000);
  await until(() => asked.length === 2);
});
