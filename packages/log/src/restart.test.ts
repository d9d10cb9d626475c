// What opening makes of the files that a crash, a power failure or a user left in the directory.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { checkLog, LogError } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { idOf, leafOf, temporaryDirectory, VERIFIERS } from './test/fixture.ts';
import { alter, failsWith, inDirectory, logOf, newestSegment, openIn } from './test/log-on-disk.ts';

describe('a restart', () => {
  inDirectory('drops a batch cut off in writing, at any byte of it', async (directory) => {
    await logOf(directory, 10);
    const segment = newestSegment(directory);
    const complete = statSync(segment).size;
    {
      await using log = await openIn(directory);
      await log.append(leafOf(10));
    }
    const longer = readFileSync(segment);
    for (let cut = complete; cut < longer.length; cut += 7) {
      await writeFile(segment, longer.subarray(0, cut));
      await rm(path.join(directory, 'checkpoint'));
      await using log = await openIn(directory);
      assert.deepEqual([log.size, statSync(segment).size], [10, complete]);
      assert.equal((await log.append(leafOf(10))).index, 10);
    }
    assert.equal((await checkLog(directory, VERIFIERS)).size, 11);
  });

  inDirectory('refuses a journal damaged before its end, and leaves it as it is', async (directory) => {
    for (let number = 0; number < 3; number++) {
      await using log = await openIn(directory);
      await log.append(leafOf(number));
    }
    const segment = newestSegment(directory);
    const bytes = readFileSync(segment);
    for (let at = 0; at < Math.floor((bytes.length * 2) / 3); at += 5) {
      await alter(segment, at);
      await assert.rejects(openIn(directory), failsWith('corrupt-journal'));
      await alter(segment, at);
    }
    assert.deepEqual(readFileSync(segment), bytes);
    await using log = await openIn(directory);
    assert.equal(log.size, 3);
  });

  inDirectory('reports acknowledged leaves that are lost', async (directory) => {
    await logOf(directory, 5);
    const segment = newestSegment(directory);
    await truncate(segment, 0);
    await assert.rejects(checkLog(directory), failsWith('lost-leaves'));
    await assert.rejects(openIn(directory), failsWith('lost-leaves'));
    await rm(path.join(directory, 'journal'), { recursive: true });
    await assert.rejects(openIn(directory), failsWith('lost-leaves'));
  });

  inDirectory('distinguishes a missing journal from an empty log', async (directory) => {
    await logOf(directory, SEGMENT_LEAVES + 1);
    await rm(path.join(directory, 'journal'), { recursive: true });
    await rm(path.join(directory, 'checkpoint'));
    await assert.rejects(openIn(directory), failsWith('corrupt-journal'));
  });

  inDirectory('refuses an altered checkpoint and another origin, and needs no checkpoint', async (directory) => {
    await logOf(directory, 300);
    const file = path.join(directory, 'checkpoint');
    const note = readFileSync(file);
    for (let at = note.indexOf('300'); at < note.indexOf('—'); at += 3) {
      await alter(file, at);
      await assert.rejects(openIn(directory), (error) => error instanceof LogError, `byte ${at}`);
      await alter(file, at);
    }
    const message = /set the origin back to .+, or begin a log/;
    await assert.rejects(openIn(directory, 'other.example/ledger'), { code: 'wrong-origin', message });
    await writeFile(file, '');
    await using log = await openIn(directory);
    assert.equal(log.size, 300);
  });

  inDirectory('refuses tiles that are missing, cut off or altered', async (directory) => {
    await logOf(directory, SEGMENT_LEAVES + 1);
    const tile = path.join(directory, 'tile/0/003');
    const bytes = readFileSync(tile);
    for (const damage of [() => alter(tile, 77), () => truncate(tile, 100), () => rm(tile)]) {
      await damage();
      await assert.rejects(openIn(directory), failsWith('corrupt-tile'));
      await assert.rejects(checkLog(directory), failsWith('corrupt-tile'));
    }
    await writeFile(tile, bytes);
    await alter(path.join(directory, 'tile/entries/003'), 77);
    await assert.rejects(checkLog(directory), failsWith('corrupt-tile'));
    await using log = await openIn(directory);
    await assert.rejects(log.receipt(idOf(leafOf(768))), failsWith('corrupt-tile'));
    assert.equal((await log.receipt(idOf(leafOf(0))))?.index, 0);
  });

  inDirectory('removes segments that a power failure brought back', async (directory) => {
    await using other = await temporaryDirectory();
    await logOf(other.path, 10);
    await logOf(directory, 3 * SEGMENT_LEAVES + 1);
    const returned = path.join(directory, 'journal', '0'.repeat(16));
    await writeFile(returned, readFileSync(newestSegment(other.path)));
    await using log = await openIn(directory);
    assert.equal(log.size, 3 * SEGMENT_LEAVES + 1);
    assert.ok(!existsSync(returned));
  });
});
