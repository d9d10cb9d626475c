// Replaced files: the old or the new content, and nothing beside it.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { temporaryDirectory } from '../../../tests/support/temporary-directory.ts';
import { replaceFile } from './durable-file.ts';

it('a replaced file has the new content, also where a killed process left a temporary file', async () => {
  await using directory = await temporaryDirectory();
  const file = path.join(directory.path, 'f');
  await writeFile(`${file}.new`, 'half', { mode: 0o644 });
  for (const sync of ['none', 'content', 'all'] as const) {
    await replaceFile(file, `${sync} ä`, { sync, mode: 0o600 });
    assert.equal(await readFile(file, 'utf8'), `${sync} ä`);
  }
  await replaceFile(file, [Buffer.from('a'), Buffer.from('b')], { sync: 'content', mode: 0o600, isShared: true });
  assert.equal(await readFile(file, 'utf8'), 'ab');
  assert.deepEqual([await readdir(directory.path), (await stat(file)).mode & 0o777], [['f'], 0o600]);
});

it('a replaced file is unchanged after an error, which leaves no temporary file', async () => {
  await using directory = await temporaryDirectory();
  const folder = path.join(directory.path, 'f');
  await mkdir(folder);
  for (const isShared of [false, true])
    await assert.rejects(replaceFile(folder, 'x', { sync: 'none', isShared }), { code: 'EISDIR' });
  assert.deepEqual(await readdir(directory.path), ['f']);
});
