// Syncs stopped at every step and killed at every write, and files that are too large.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { folderSource } from './sources/folder.ts';
import { dieAtWrites, stopAfterSteps } from './test/cut-off.ts';
import { HOUR, NET_NAMES, openWorld } from './test/syncing.ts';

for (const name of NET_NAMES) {
  it(`a sync that is cut off of ${name} ends the same wherever it is stopped`, async () =>
    assert.ok((await stopAfterSteps(name, new Array(100_000).keys().drop(1))) >= 1));

  it(`a sync that is cut off of ${name} ends the same wherever its process dies`, async () =>
    assert.ok((await dieAtWrites(name, new Array(100_000).keys())) >= 3));
}

it('a packed file of more than 512 MiB in the folder is skipped', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  await writeFile(path.join(ground.directory, 'bomb.json.gz'), gzipSync(Buffer.alloc(600 * 1024 * 1024, 0x20)));
  const end = await ground.run(folderSource({ directory: ground.directory, everyMs: HOUR }));
  assert.equal(end.kind, 'complete');
  assert.match((await ground.stored('folder')).skippedExample ?? '', /^bomb\.json\.gz is damaged or not JSON/);
});
