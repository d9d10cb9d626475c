// Syncs with the simulated publishers. Cut off at every step and write: sources.full.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BULK, stoppedAfter } from './test/cut-off.ts';
import type { Ground, NetName, World } from './test/syncing.ts';
import { DAY, idsOf, NET_NAMES, openWorld, publisherOf } from './test/syncing.ts';

/** Requests of one complete sync. */
async function requestsOf(name: NetName, world: World, ground: Ground): Promise<number> {
  const before = world.publishers.requests(publisherOf(name));
  const end = await ground.run(world.source(name));
  assert.equal(end.kind, 'complete', JSON.stringify(end));
  return world.publishers.requests(publisherOf(name)) - before;
}

it('syncing with the publishers fetches everything once, then asks little while nothing is new', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  for (const name of NET_NAMES) await requestsOf(name, world, ground);
  const first = ground.dump();
  for (const [table, rows] of Object.entries(first)) assert.ok(rows.length > 20, `${table}: ${rows.length}`);
  const latest = await ground.store.advisories.latestChange();
  // A list each of two ecosystems; a packed file and where it is; the window of the last hour.
  const expected = { kev: 1, epss: 2, nvd: 1, osv: 2, cve: 1 };
  for (const name of NET_NAMES) assert.equal(await requestsOf(name, world, ground), expected[name], name);
  assert.deepEqual(ground.dump(), first);
  assert.equal(await ground.store.advisories.latestChange(), latest);
});
it('syncing with the publishers counts and shows what cannot be read', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  for (const name of NET_NAMES) {
    const end = await ground.run(world.source(name));
    assert.ok(end.kind === 'complete' && end.skipped > 0, `${name}: ${JSON.stringify(end)}`);
    const { read, skipped, skippedExample, state } = await ground.stored(name);
    assert.deepEqual([state, read, skipped], ['complete', end.read, end.skipped]);
    assert.ok(skippedExample && read > skipped, `${name}: ${skippedExample}`);
    // Kept until something is read again.
    await ground.run(world.source(name));
    assert.deepEqual((await ground.stored(name)).skipped, skipped);
  }
});
it('syncing with the publishers follows what is published, exploited and withdrawn, as if it had read all of it then', async () => {
  await using world = await openWorld();
  await using follower = await world.ground();
  for (const name of NET_NAMES) await requestsOf(name, world, follower);
  const { publishers } = world;
  const known = publishers.records().find(({ kev, isMalformed }) => !kev && !isMalformed) ?? assert.fail();
  for (let day = 0; day < 6; day += 1) {
    world.pass(1);
    if (day === 1) publishers.publish({ ...known, id: 'CVE-2997-12345', ghsa: 'GHSA-2345-2345-2345' });
    if (day === 2) publishers.exploit(known.id);
    if (day === 3) publishers.withdraw('CVE-2997-12345');
    for (const name of NET_NAMES) await requestsOf(name, world, follower);
  }
  await using fresh = await world.ground();
  for (const name of NET_NAMES) await requestsOf(name, world, fresh);
  const [a, b] = [follower.dump(), fresh.dump()];
  // EPSS no longer scores what was withdrawn; its last score stays.
  assert.deepEqual({ ...a, exploit_scores: [] }, { ...b, exploit_scores: [] });
  const [advisory] = await follower.store.advisories.read(['CVE-2997-12345']);
  assert.equal(advisory?.advisory.state, 'rejected');
  assert.ok((await follower.store.advisories.read([known.id]))[0]?.exploited);
});
it('syncing with the publishers asks NVD for long absences in windows of at most 120 days', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  await requestsOf('nvd', world, ground);
  world.clock.at += 300 * DAY;
  world.publishers.withdraw(world.publishers.records()[0]?.id ?? '');
  world.clock.at += 20 * DAY;
  // 320 days and an hour; NVD refuses a longer window.
  assert.equal(await requestsOf('nvd', world, ground), 3);
  assert.equal((await ground.stored('nvd')).read, 1);
});
it('syncing with the publishers takes the archive again when the log of the CVE List no longer reaches back', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  await requestsOf('cve', world, ground);
  world.publishers.withdraw('CVE-2021-23017');
  world.pass(40);
  world.publishers.withdraw('CVE-2019-11043');
  assert.ok((await requestsOf('cve', world, ground)) >= 4);
  await using fresh = await world.ground();
  await requestsOf('cve', world, fresh);
  assert.deepEqual(ground.dump(), fresh.dump());
});
it('a sync that is cut off keeps its position when another ecosystem has changed at the restart', async () => {
  await using world = await openWorld({ bulk: BULK });
  await using ground = await world.ground();
  // Cut off in the archive of npm, which comes after Packagist.
  assert.equal((await ground.run(world.source('osv'), stoppedAfter(3))).kind, 'interrupted');
  const before = (await ground.stored('osv')).cursor as { readonly archive?: { readonly ecosystem: string } };
  assert.equal(before.archive?.ecosystem, 'npm');
  world.clock.at += DAY;
  const { publishers } = world;
  const records = publishers.records().filter(({ ghsa }) => ghsa);
  const drupal = records.find(({ affected: [first] }) => first?.package?.ecosystem === 'Packagist');
  publishers.publish({ ...(drupal ?? assert.fail()), title: 'Published again' });
  const requests = publishers.requests('osv');
  assert.equal((await ground.run(world.source('osv'))).kind, 'complete');
  // Both lists and the one record: the archive lay there.
  assert.equal(publishers.requests('osv') - requests, 3);
});
it('a sync that is cut off loses no record of a window from which records were withdrawn in between', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  const { publishers, clock } = world;
  assert.equal((await ground.run(world.source('nvd'))).kind, 'complete');
  clock.at += DAY;
  const facts = publishers.records()[0] ?? assert.fail();
  const ids = Array.from({ length: 300 }, (_, i) => `CVE-2996-${10_000 + i}`);
  for (const id of ids) publishers.publish({ ...facts, id, published: '2003-01-01' });
  clock.at += DAY;
  const cut = await ground.run(world.source('nvd'), stoppedAfter(1));
  assert.deepEqual([cut.kind, (await ground.stored('nvd')).read], ['interrupted', 200]);
  clock.at += DAY;
  const kept = new Set(idsOf(ground));
  // The first ones are withdrawn; the remaining ones move up.
  for (const id of ids.filter((each) => kept.has(each)).slice(0, 40)) publishers.withdraw(id);
  assert.equal((await ground.run(world.source('nvd'))).kind, 'complete');
  await using expected = await world.ground();
  await expected.run(world.source('nvd'));
  assert.deepEqual(new Set(ids).difference(new Set(idsOf(ground))), new Set());
  assert.deepEqual(ground.dump(), expected.dump());
});
