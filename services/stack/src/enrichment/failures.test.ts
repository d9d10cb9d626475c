// Syncs with publishers that fail, stall or answer wrongly.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import path from 'node:path';
import { it } from 'node:test';
import { fakeService } from '../../../../tests/support/fake-service.ts';
import { kevSource } from './sources/kev.ts';
import { nvdSource } from './sources/nvd.ts';
import { osvSource } from './sources/osv.ts';
import { stoppedAfter } from './test/cut-off.ts';
import { HOUR, inWorld, NET_NAMES, openPublisher, openWorld, publisherOf, type SourceAt } from './test/syncing.ts';

const nvdAt = (origin: string) => nvdSource({ url: `${origin}/cves/2.0`, apiKey: undefined, everyMs: HOUR, gapMs: 0 });
const kevAt = (origin: string) => kevSource({ url: `${origin}/kev.json`, everyMs: HOUR });

/** How a sync with such a publisher ends, and how long we then wait. */
async function endWith(answers: RequestListener, sourceAt: SourceAt = kevAt, trusted: readonly string[] = []) {
  await using publisher = await openPublisher(answers, sourceAt, trusted);
  const end = await publisher.sync();
  const { nextAt, state } = await publisher.ground.stored(publisher.source.name);
  const waitMs = (nextAt?.getTime() ?? 0) - publisher.clock.at;
  return { end, state, waitMs, error: end.kind === 'failed' ? end.error : '' };
}

for (const name of NET_NAMES) {
  it(`${name}: is retried after a temporary failure, and completes`, async () => {
    await using world = await openWorld();
    await using expected = await world.ground();
    await expected.run(world.source(name));
    const statuses = name === 'kev' ? [403, 429, 500] : [500];
    for (const failure of [...statuses.map((status) => ({ status })), { kind: 'cut' }] as const) {
      await using ground = await world.ground();
      world.publishers.fail(publisherOf(name), { ...failure, times: 2 });
      const end = await ground.run(world.source(name));
      assert.equal(end.kind, 'complete', `${JSON.stringify(failure)}: ${JSON.stringify(end)}`);
      assert.deepEqual(ground.dump(), expected.dump());
    }
  });
  it(`${name}: reports a lasting failure, keeps its position, and waits longer each time`, async () => {
    await using world = await openWorld();
    await using ground = await world.ground();
    const source = world.source(name);
    const failures = [{ status: 500 }, { status: 410 }, { kind: 'hang' }, { kind: 'garbage' }] as const;
    let waited = 0;
    for (const [i, failure] of failures.entries()) {
      world.publishers.fail(publisherOf(name), { ...failure, times: 50 });
      // However long is waited for one that hangs, it answers nothing.
      const timeouts = { firstPauseMs: 1, requestMs: 60, downloadMs: 60 };
      const end = await ground.run(source, 'kind' in failure ? { timeouts } : {});
      assert.equal(end.kind, 'failed', `${JSON.stringify(failure)}: ${JSON.stringify(end)}`);
      const { state, failures: count, finishedAt, error, nextAt } = await ground.stored(name);
      assert.deepEqual([state, count, finishedAt], ['failed', i + 1, null]);
      assert.ok(error && error.length < 400, error ?? 'no error');
      const waits = (nextAt?.getTime() ?? 0) - world.clock.at;
      assert.ok(waits > waited, `${waits} after ${waited}`);
      waited = waits;
    }
    world.publishers.fail(publisherOf(name), { status: 500, times: 0 });
    assert.equal((await ground.run(source)).kind, 'complete');
    const { state, failures: left, error, read } = await ground.stored(name);
    assert.deepEqual([state, left, error], ['complete', 0, null]);
    // The figures of a sync exclude earlier syncs that read nothing.
    await using expected = await world.ground();
    await expected.run(source);
    assert.equal(read, (await expected.stored(name)).read);
  });
}

it('a sync does not count what the last complete sync read to one that failed at once, or to the next', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  await ground.run(world.source('nvd'));
  world.publishers.withdraw('CVE-2021-23017');
  world.publishers.fail('nvd', { status: 410, times: 1 });
  const failed = await ground.run(world.source('nvd'));
  assert.equal(failed.kind === 'failed' && failed.read, 0);
  await ground.run(world.source('nvd'));
  assert.equal((await ground.stored('nvd')).read, 1);
});
it('a sync waits as long as a publisher asks for', async () => {
  // Limited, and only for a valid time.
  for (const [after, waitMs] of Object.entries({ 7200: 2 * HOUR, 999999999: 24 * HOUR, soon: 300_000 })) {
    const busy: RequestListener = (_, response) => void response.writeHead(429, { 'retry-after': after }).end();
    assert.equal((await endWith(busy)).waitMs, waitMs);
  }
});
it('a sync heeds a short Retry-After within a sync', async () => {
  const times: number[] = [];
  await endWith((_, response) => {
    times.push(performance.now());
    response.writeHead(times.length === 1 ? 429 : 410, { 'retry-after': '1' }).end();
  });
  assert.equal(times.length, 2);
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990);
});
it('a sync is not led elsewhere', async () => {
  const location = 'http://127.0.0.1:9/kev.json';
  const { error } = await endWith((_, response) => void response.writeHead(302, { location }).end());
  assert.match(error, /cannot be fetched/);
});
it('a sync refuses pages that are not JSON, and JSON that is not a page', async () => {
  const bodies = '<html>||[]|{"vulnerabilities":{}}|{"__proto__":{"totalResults":1}}'.split('|');
  for (const body of [...bodies, '['.repeat(50_000)]) {
    const { end, state } = await endWith((_, response) => void response.end(body), nvdAt);
    assert.deepEqual([end.kind, state], ['failed', 'failed'], body.slice(0, 40));
  }
});

inWorld('a sync counts an unknown ecosystem, and reads the remaining ones', async (world, ground) => {
  const source = osvSource({ baseUrl: world.publishers.osvUrl, ecosystems: ['Nowhere', 'npm'], everyMs: HOUR });
  const end = await ground.run(source);
  assert.equal(end.kind, 'complete');
  assert.match((await ground.stored('osv')).skippedExample ?? '', /^Nowhere: nothing is published for it/);
  assert.ok(((await ground.store.advisories.counts()).bySource.ghsa ?? 0) > 3);
});
it('a sync downloads an archive again that was damaged after its download', async () => {
  await using world = await openWorld({ bulk: 700 });
  await using ground = await world.ground();
  await using expected = await world.ground();
  const source = world.source('osv');
  assert.equal((await ground.run(source, stoppedAfter(1))).kind, 'interrupted');
  await writeFile(path.join(ground.deps.directory, 'osv-Packagist.zip'), 'PK and no more');
  const end = await ground.run(source);
  assert.match(end.kind === 'failed' ? end.error : end.kind, /damaged or not a zip/);
  assert.equal((await ground.run(source)).kind, 'complete');
  await expected.run(source);
  assert.deepEqual(ground.dump(), expected.dump());
});

const key = '11111111-2222-3333-4444-555555555555';

it('a request to a publisher has the API key where that is NVD, and shows none in errors', async () => {
  const requests: string[] = [];
  const answers: RequestListener = (request, response) => {
    requests.push(`${request.url} ${JSON.stringify(request.headers)}`);
    response.writeHead(410).end();
  };
  const withKey = (origin: string) => nvdSource({ url: `${origin}/cves/2.0`, apiKey: key, everyMs: HOUR });
  const { error } = await endWith(answers, withKey);
  assert.ok(requests[0]?.includes(`"apikey":"${key}"`) && !requests[0].split(' ')[0]?.includes(key));
  assert.ok(error && !error.includes(key));
  await endWith(answers);
  assert.ok(requests[1] && !requests[1].includes(key));
});
it('a request to a publisher sends the key to no host that NVD redirects to', async () => {
  const requests: string[] = [];
  await using other = await fakeService(({ headers }, response) => {
    requests.push(JSON.stringify(headers));
    response.writeHead(410).end();
  });
  const redirect: RequestListener = (_, response) => void response.writeHead(302, { location: `${other.base}/` }).end();
  const withKey = (origin: string) => nvdSource({ url: `${origin}/`, apiKey: 'secret', everyMs: HOUR });
  await endWith(redirect, withKey, [other.base]);
  assert.equal(requests.length, 1);
  assert.ok(!requests[0]?.includes('secret'));
});
it('requests to publishers leave the gap between requests that NVD asks for, tries again included', async () => {
  const gapMs = 100;
  const startedAt = performance.now();
  const times: number[] = [];
  const answers: RequestListener = (_, response) => {
    times.push(performance.now() - startedAt);
    response.writeHead(times.length < 4 ? 503 : 410).end();
  };
  await endWith(answers, (origin) => nvdSource({ url: `${origin}/`, apiKey: undefined, everyMs: HOUR, gapMs }));
  assert.equal(times.length, 4);
  // From the start on: a request that arrives late does not put off the next one. Timers may fire a millisecond early.
  for (const [i, time] of times.entries()) assert.ok(time >= i * (gapMs - 1), `${times}`);
});
it('requests to publishers stay within what NVD allows', { timeout: 20_000 }, async () => {
  await using world = await openWorld({ rateLimits: true, bulk: 5_000 });
  await using ground = await world.ground();
  const end = await ground.run(nvdSource({ url: world.publishers.nvdUrl, apiKey: key, everyMs: HOUR }));
  assert.deepEqual([end.kind, world.publishers.requests('nvd')], ['complete', 4]);
});
