import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BULK, dieAtWrites, stopAfterSteps } from './test/cut-off.ts';
import { DAY, openWorld } from './test/syncing.ts';

describe('a sync that is cut off', () => {
  // At every step and write: resume.full.test.ts.
  for (const [name, steps] of [
    ['kev', [1]],
    ['epss', [1]],
    ['nvd', [2]],
    ['osv', [1, 3]],
    ['cve', [2]],
  ] as const)
    it(`of ${name} ends the same where it is stopped after step ${steps.join(' and ')}`, async () => {
      assert.ok((await stopAfterSteps(name, steps)) >= Math.max(...steps));
    });

  for (const [name, writes] of [
    ['kev', [0, 1, 2]],
    ['epss', [1]],
    ['osv', [2, 5]],
  ] as const)
    it(`of ${name} ends the same where its process dies at write ${writes.join(', ')}`, async () => {
      assert.equal(await dieAtWrites(name, writes), writes.length);
    });

  it('keeps its place when another ecosystem has news at the restart', async () => {
    await using world = await openWorld({ bulk: BULK });
    await using ground = await world.ground();
    // Cut off in the archive of npm, which comes after Packagist.
    const stopping = new AbortController();
    let steps = 0;
    const onStep = () => {
      steps += 1;
      if (steps === 3) stopping.abort();
    };
    assert.equal((await ground.run(world.source('osv'), { signal: stopping.signal, onStep })).kind, 'interrupted');
    const before = (await ground.stored('osv')).cursor as { readonly archive?: { readonly ecosystem: string } };
    assert.equal(before.archive?.ecosystem, 'npm');
    world.clock.at += DAY;
    const drupal = world.publishers
      .records()
      .find(({ ghsa, affected }) => ghsa && affected[0]?.package?.ecosystem === 'Packagist');
    assert.ok(drupal);
    world.publishers.publish({ ...drupal, title: 'Told again' });
    const requests = world.publishers.requests('osv');
    assert.equal((await ground.run(world.source('osv'))).kind, 'complete');
    // Both lists and the one record: the archive lay there.
    assert.equal(world.publishers.requests('osv') - requests, 3);
  });

  it('loses no record of a window from which others have gone meanwhile', async () => {
    await using world = await openWorld();
    await using ground = await world.ground();
    const { publishers, clock } = world;
    assert.equal((await ground.run(world.source('nvd'))).kind, 'complete');
    clock.at += DAY;
    const [facts] = publishers.records();
    assert.ok(facts);
    const ids = Array.from({ length: 300 }, (_, i) => `CVE-2996-${10_000 + i}`);
    for (const id of ids) publishers.publish({ ...facts, id, published: '2003-01-01' });
    clock.at += DAY;
    const stopping = new AbortController();
    const cut = await ground.run(world.source('nvd'), { signal: stopping.signal, onStep: () => stopping.abort() });
    assert.deepEqual([cut.kind, (await ground.stored('nvd')).read], ['interrupted', 200]);
    clock.at += DAY;
    const kept = new Set((ground.dump().advisories ?? []).map((row) => JSON.parse(row).id));
    // Whoever stands at the front goes; the others move up.
    for (const id of ids.filter((each) => kept.has(each)).slice(0, 40)) publishers.withdraw(id);
    assert.equal((await ground.run(world.source('nvd'))).kind, 'complete');
    await using whole = await world.ground();
    await whole.run(world.source('nvd'));
    const found = new Set((ground.dump().advisories ?? []).map((row) => JSON.parse(row).id));
    const missing = ids.filter((id) => !found.has(id));
    assert.deepEqual(missing, []);
    assert.ok(JSON.stringify(ground.dump()) === JSON.stringify(whole.dump()));
  });
});
