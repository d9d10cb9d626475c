// Syncs stopped at every step and killed at every write, a process killed at any moment, and a file that is too large.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { folderSource } from './sources/folder.ts';
import { BULK, dieAtWrites, endLeases, stopAfterSteps } from './test/cut-off.ts';
import { type Ground, HOUR, NET_NAMES, openWorld, type World } from './test/syncing.ts';

describe('a sync that is cut off', () => {
  for (const name of NET_NAMES) {
    it(`of ${name} ends the same wherever it is stopped`, async () => {
      assert.ok((await stopAfterSteps(name, new Array(100_000).keys().drop(1))) >= 1);
    });

    it(`of ${name} ends the same wherever its process dies`, async () => {
      assert.ok((await dieAtWrites(name, new Array(100_000).keys())) >= 3);
    });
  }

  it('in a process killed at any moment ends the same', async () => {
    await using world = await openWorld({ bulk: BULK });
    await using expected = await world.ground();
    for (const name of NET_NAMES) await expected.run(world.source(name));
    await using ground = await world.ground();
    let kills = 0;
    for (let steps = 1; !(await runUntil(steps, world, ground)); steps += 2) {
      kills += 1;
      endLeases(ground.directory);
    }
    assert.ok(kills >= 3, String(kills));
    assert.deepEqual(ground.dump(), expected.dump());
    for (const name of NET_NAMES) {
      const [a, b] = [await ground.stored(name), await expected.stored(name)];
      assert.deepEqual([a.state, a.cursor], [b.state, b.cursor]);
    }
  });
});

/** A process of its own syncs everything that is not complete, until it has reported this many steps; then it is killed. */
async function runUntil(steps: number, world: World, ground: Ground): Promise<boolean> {
  const { nvdUrl, cveListUrl, rawUrl, kevUrl, epssUrl, osvUrl } = world.publishers;
  const urls = { nvdUrl, cveListUrl, rawUrl, kevUrl, epssUrl, osvUrl };
  const work = { directory: ground.directory, at: world.clock.at, urls };
  const main = path.join(import.meta.dirname, 'test/sync-process.ts');
  const child = spawn(process.execPath, [main, JSON.stringify(work)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let reported = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    reported += bytes.toString().split('\n').length - 1;
    if (reported >= steps) child.kill('SIGKILL');
  });
  const [code, signal] = await once(child, 'close');
  assert.ok(code === 0 || signal === 'SIGKILL', `${code} ${signal}`);
  return code === 0;
}

it('a packed file of more than 512 MiB in the folder is skipped', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  await writeFile(path.join(ground.directory, 'bomb.json.gz'), gzipSync(Buffer.alloc(600 * 1024 * 1024, 0x20)));
  const end = await ground.run(folderSource({ directory: ground.directory, everyMs: HOUR }));
  assert.equal(end.kind, 'complete');
  assert.match((await ground.stored('folder')).skippedExample ?? '', /^bomb\.json\.gz is damaged or not JSON/);
});
