// Syncs that are stopped after a step or die at a write, and what the next one makes of it.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '../../store/index.ts';
import type { RunDeps } from '../run-source.ts';
import { type NetName, openWorld } from './syncing.ts';

/** Small enough to be stopped at every step, large enough to have several. */
export const BULK = 700;

class Killed extends Error {}

/** A store whose process dies at its n-th write: that one and all after it are not made. */
function dyingAt(writes: number, store: Store): Store {
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
  const advisories = mortal(store.advisories, ['putRecords', 'putExploited', 'putScores']);
  return { ...store, advisories, sources: mortal(store.sources, ['step', 'finish', 'stop']) };
}

/** What ends a sync after its n-th step. */
export function stoppedAfter(steps: number): Pick<RunDeps, 'signal' | 'onStep'> {
  const stopping = new AbortController();
  let done = 0;
  const onStep = () => {
    done += 1;
    if (done === steps) stopping.abort();
  };
  return { signal: stopping.signal, onStep };
}

/** As when its time has run out. */
function endLeases(directory: string): void {
  const database = new DatabaseSync(path.join(directory, 'strata.db'));
  database.exec('UPDATE advisory_sources SET lease_until = 0');
  database.close();
}

/** Publishers, and what one of their sources comes to when nothing stops it. */
async function openCutOff(name: NetName) {
  const world = await openWorld({ bulk: BULK });
  await using complete = await world.ground();
  let steps = 0;
  const onStep = () => {
    steps += 1;
  };
  await complete.run(world.source(name), { onStep });
  const { cursor } = await complete.stored(name);
  const close = () => world[Symbol.asyncDispose]();
  return { steps, expected: complete.dump(), cursor, world, [Symbol.asyncDispose]: close };
}

/** Syncs with a stop after each of these steps, and at some of those that follow; the result is the same. Returns the steps of a sync. */
export async function stopAfterSteps(name: NetName, stops: Iterable<number>): Promise<number> {
  await using cutOff = await openCutOff(name);
  const { steps, expected, world } = cutOff;
  for (const stopAt of stops) {
    if (stopAt > steps) break;
    await using ground = await world.ground();
    let stopped = 0;
    for (;;) {
      const stop = stopped === 0 ? stoppedAfter(stopAt) : stopped < 3 ? stoppedAfter(1) : {};
      const end = await ground.run(world.source(name), stop);
      const { state, finishedAt } = await ground.stored(name);
      assert.equal(state, end.kind);
      if (end.kind === 'complete') break;
      assert.deepEqual([end.kind, finishedAt], ['interrupted', null]);
      stopped += 1;
    }
    assert.ok(stopped > 0);
    assert.deepEqual(ground.dump(), expected, `${name} stopped at ${stopAt}`);
  }
  return steps;
}

/** Syncs with a store that dies at each of these writes; the result is the same. Returns how often it died. */
export async function dieAtWrites(name: NetName, writes: Iterable<number>): Promise<number> {
  await using cutOff = await openCutOff(name);
  const { expected, cursor, world } = cutOff;
  let deaths = 0;
  for (const count of writes) {
    await using ground = await world.ground();
    const store = dyingAt(count, ground.store);
    const [result] = await Promise.allSettled([ground.run(world.source(name), { store })]);
    if (result.status === 'fulfilled') break;
    assert.ok(result.reason instanceof Killed, result.reason);
    deaths += 1;
    assert.equal((await ground.stored(name)).state, 'syncing');
    assert.deepEqual(await ground.run(world.source(name)), { kind: 'busy' });
    endLeases(ground.directory);
    const { state, finishedAt } = await ground.stored(name);
    assert.deepEqual([state, finishedAt], ['interrupted', null]);
    assert.equal((await ground.run(world.source(name))).kind, 'complete');
    assert.deepEqual(ground.dump(), expected, `${name} killed at ${count}`);
    assert.deepEqual((await ground.stored(name)).cursor, cursor);
  }
  return deaths;
}
