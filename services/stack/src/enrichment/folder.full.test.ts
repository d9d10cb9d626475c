import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { folderSource } from './folder.ts';
import { HOUR, openWorld } from './test/syncing.ts';

it('a packed file of more than 512 MiB in the folder is skipped', async () => {
  await using world = await openWorld();
  await using ground = await world.ground();
  await writeFile(path.join(ground.directory, 'bomb.json.gz'), gzipSync(Buffer.alloc(600 * 1024 * 1024, 0x20)));
  const end = await ground.run(folderSource({ directory: ground.directory, everyMs: HOUR }));
  assert.equal(end.kind, 'complete');
  assert.match((await ground.stored('folder')).skippedExample ?? '', /^bomb\.json\.gz is damaged or no JSON/);
});
