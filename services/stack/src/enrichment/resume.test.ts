import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BULK, dieAtWrites, stopAfterSteps, stoppedAfter } from './test/cut-off.ts';
import { DAY, idsOf, isSame, openWorld } from './test/syncing.ts';

describe('a sync that is cut off', () => {
  // At every step and write: resume.full.test.ts.
  for (const [name, steps, writes] of [
    ['kev', [1], [0, 1, 2]],
    ['epss', [1], [1]],
    ['nvd', [2], []],
    ['osv', [1, 3], [2, 5]],
    ['cve', [2], []],
  ] as const)
    it(`of ${name} ends the same where it is stopped after steps, and where its process dies at writes`, async () => {
      assert.ok((await stopAfterSteps(name, steps)) >= Math.max(...steps));
      assert.equal(await dieAtWrites(name, writes), writes.length);
    });

  it('keeps its position when another ecosystem has changed at the restart', async () => {
    await using world = await openWorld({ bulk: BULK });
    await using ground = await world.ground();
    // Cut off in the archive of npm, which comes after Packagist.
    assert.equal((await ground.run(world.source('osv'), stoppedAfter(3))).kind, 'interrupted');
    const before = (await ground.stored('osv')).cursor as { readonly archive?: { readonly ecosystem: string } };
    assert.equal(before.archive?.ecosystem, 'npm');
    world.clock.at += DAY;
    const { publishers } = world;
    const drupal = publishers
      .records()
      .find(({ ghsa, affected }) => ghsa && affected[0]?.package?.ecosystem === 'Packagist');
    publishers.publish({ ...(drupal ?? assert.fail()), title: 'Published again' });
    const requests = publishers.requests('osv');
    assert.equal((await ground.run(world.source('osv'))).kind, 'complete');
    // Both lists and the one record: the archive lay there.
    assert.equal(publishers.requests('osv') - requests, 3);
  });

  it('loses no record of a window from which others were withdrawn in between', async () => {
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
    // Those at the front are withdrawn; the others move up.
    for (const id of ids.filter((each) => kept.has(each)).slice(0, 40)) publishers.withdraw(id);
    assert.equal((await ground.run(world.source('nvd'))).kind, 'complete');
    await using whole = await world.ground();
    await whole.run(world.source('nvd'));
    const found = new Set(idsOf(ground));
    assert.ok(ids.every((id) => found.has(id)));
    assert.ok(isSame(ground, whole));
  });
});
