import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { Store } from '@strata/store';
import { DAY, type Dump, type Ground, NET_NAMES, type NetName, openWorld, type World } from './test/syncing.ts';

/** Small enough to be stopped at every step, large enough to have several. */
const BULK = 700;

class Killed extends Error {}

/** A store whose process dies at its n-th write: that one and all after it are not made. */
function dyingAt(writes: number, { advisories, sources }: Store, store: Store): Store {
  let left = writes;
  const mortal = <T extends object>(table: T, names: readonly (keyof T)[]): T =>
    new Proxy(table, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
        if (!names.includes(name as keyof T)) return method.bind(target);
        return async (...given: unknown[]) => {
          left -= 1;
          if (left < 0) throw new Killed();
          return method.apply(target, given);
        };
      },
    });
  return {
    ...store,
    advisories: mortal(advisories, ['putRecords', 'putExploited', 'putScores']),
    sources: mortal(sources, ['step', 'finish', 'stop']),
  };
}

/** As when its time has run out. */
function endLeases(directory: string): void {
  const database = new DatabaseSync(path.join(directory, 'strata.db'));
  database.exec('UPDATE advisory_sources SET lease_until = 0');
  database.close();
}

/** Syncs once whole, and again with a stop at each step in turn; what comes out is always the same. */
async function stopEverywhere(name: NetName, world: World, expected: Dump): Promise<number> {
  for (let stopAt = 1; ; stopAt += 1) {
    await using ground = await world.ground();
    let steps = 0;
    let stops = 0;
    for (;;) {
      const stopping = new AbortController();
      const onStep = () => {
        steps += 1;
        if (steps === stopAt || (stops > 0 && stops < 3)) stopping.abort();
      };
      const end = await ground.run(world.source(name), { signal: stopping.signal, onStep });
      const { state, finishedAt } = await ground.stored(name);
      assert.equal(state, end.kind);
      if (end.kind === 'complete') break;
      assert.deepEqual([end.kind, finishedAt], ['interrupted', null]);
      stops += 1;
    }
    assert.deepEqual(ground.dump(), expected, `${name} stopped at ${stopAt}`);
    if (stops === 0) return stopAt - 1;
  }
}

async function dieEverywhere(name: NetName, world: World, whole: Ground): Promise<number> {
  const expected = whole.dump();
  const cursor = JSON.stringify((await whole.stored(name)).cursor);
  for (let writes = 0; ; writes += 1) {
    await using ground = await world.ground();
    const dying = dyingAt(writes, ground.store, ground.store);
    const isDead = await ground.run(world.source(name), { store: dying }).then(
      () => false,
      (error) => error instanceof Killed,
    );
    if (!isDead) return writes;
    assert.equal((await ground.stored(name)).state, 'syncing');
    assert.deepEqual(await ground.run(world.source(name)), { kind: 'busy' });
    endLeases(ground.directory);
    const { state, finishedAt } = await ground.stored(name);
    assert.deepEqual([state, finishedAt], ['interrupted', null]);
    assert.equal((await ground.run(world.source(name))).kind, 'complete');
    assert.deepEqual(ground.dump(), expected, `${name} killed at ${writes}`);
    assert.equal(JSON.stringify((await ground.stored(name)).cursor), cursor);
  }
}

async function withWhole(test: (world: World, whole: Ground) => Promise<void>): Promise<void> {
  await using world = await openWorld({ bulk: BULK });
  await using whole = await world.ground();
  await test(world, whole);
}

describe('a sync that is cut off', () => {
  for (const name of NET_NAMES) {
    it(`of ${name} ends the same wherever it is stopped`, () =>
      withWhole(async (world, whole) => {
        assert.equal((await whole.run(world.source(name))).kind, 'complete');
        const steps = await stopEverywhere(name, world, whole.dump());
        assert.ok(steps >= 1, String(steps));
      }));

    it(`of ${name} ends the same wherever its process dies`, () =>
      withWhole(async (world, whole) => {
        assert.equal((await whole.run(world.source(name))).kind, 'complete');
        assert.ok((await dieEverywhere(name, world, whole)) >= 3);
      }));
  }

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

  it('in a process killed at any moment ends the same', async () => {
    await using world = await openWorld({ bulk: BULK });
    await using whole = await world.ground();
    for (const name of NET_NAMES) await whole.run(world.source(name));
    await using ground = await world.ground();
    let kills = 0;
    for (let steps = 1; ; steps += 2) {
      const ended = await runUntil(steps, world, ground);
      if (ended) break;
      kills += 1;
      endLeases(ground.directory);
    }
    assert.ok(kills >= 3, String(kills));
    assert.deepEqual(ground.dump(), whole.dump());
    for (const name of NET_NAMES) {
      const [a, b] = [await ground.stored(name), await whole.stored(name)];
      assert.deepEqual([a.state, a.cursor], [b.state, b.cursor]);
    }
  });
});

/** A process of its own syncs everything that is not complete, until it has told of so many steps; then it is killed. */
async function runUntil(steps: number, world: World, ground: Ground): Promise<boolean> {
  const { nvdUrl, cveListUrl, rawUrl, kevUrl, epssUrl, osvUrl } = world.publishers;
  const work = {
    directory: ground.directory,
    at: world.clock.at,
    urls: { nvdUrl, cveListUrl, rawUrl, kevUrl, epssUrl, osvUrl },
  };
  const main = path.join(import.meta.dirname, 'test/sync-process.ts');
  const child = spawn(process.execPath, [main, JSON.stringify(work)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let seen = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    seen += bytes.toString().split('\n').length - 1;
    if (seen >= steps) child.kill('SIGKILL');
  });
  const [code, signal] = await once(child, 'close');
  assert.ok(code === 0 || signal === 'SIGKILL', `${code} ${signal}`);
  return code === 0;
}
