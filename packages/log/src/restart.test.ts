// What opening makes of what a crash, a power cut or somebody left in the directory.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkLog, LogError } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { idOf, leafOf, temporaryDirectory, VERIFIERS } from './test/fixture.ts';
import { alter, failsWith, logOf, newestSegment, openIn } from './test/log-on-disk.ts';

describe('a restart', () => {
  it('drops a batch cut off in writing, at any byte of it', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 10);
    const segment = newestSegment(directory.path);
    const whole = statSync(segment).size;
    {
      await using log = await openIn(directory.path);
      await log.append(leafOf(10));
    }
    const longer = readFileSync(segment);
    for (let cut = whole; cut < longer.length; cut += 7) {
      await writeFile(segment, longer.subarray(0, cut));
      await rm(path.join(directory.path, 'checkpoint'));
      await using log = await openIn(directory.path);
      assert.equal(log.size, 10);
      assert.equal(statSync(segment).size, whole);
      assert.equal((await log.append(leafOf(10))).index, 10);
    }
    assert.equal((await checkLog(directory.path, VERIFIERS)).size, 11);
  });

  it('refuses a journal damaged before its end, and leaves it as it is', async () => {
    await using directory = await temporaryDirectory();
    for (let number = 0; number < 3; number++) {
      await using log = await openIn(directory.path);
      await log.append(leafOf(number));
    }
    const segment = newestSegment(directory.path);
    const bytes = readFileSync(segment);
    for (let at = 0; at < Math.floor((bytes.length * 2) / 3); at += 5) {
      await alter(segment, at);
      await assert.rejects(openIn(directory.path), failsWith('corrupt-journal'));
      await alter(segment, at);
    }
    assert.deepEqual(readFileSync(segment), bytes);
    await using log = await openIn(directory.path);
    assert.equal(log.size, 3);
  });

  it('tells when acknowledged leaves are gone', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 5);
    const segment = newestSegment(directory.path);
    const bytes = readFileSync(segment);
    await truncate(segment, 0);
    await assert.rejects(openIn(directory.path), failsWith('lost-leaves'));
    await assert.rejects(checkLog(directory.path), failsWith('lost-leaves'));
    await writeFile(segment, bytes);
    await rm(path.join(directory.path, 'journal'), { recursive: true });
    await assert.rejects(openIn(directory.path), failsWith('lost-leaves'));
  });

  it('tells a journal that is gone from an empty log', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, SEGMENT_LEAVES + 1);
    await rm(path.join(directory.path, 'journal'), { recursive: true });
    await rm(path.join(directory.path, 'checkpoint'));
    await assert.rejects(openIn(directory.path), failsWith('corrupt-journal'));
  });

  it('refuses an altered checkpoint and another origin, and lives without a checkpoint', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 300);
    const file = path.join(directory.path, 'checkpoint');
    const note = readFileSync(file);
    for (let at = note.indexOf('300'); at < note.indexOf('—'); at += 3) {
      await alter(file, at);
      await assert.rejects(openIn(directory.path), (error) => error instanceof LogError, `byte ${at}`);
      await alter(file, at);
    }
    await assert.rejects(openIn(directory.path, 'other.example/ledger'), failsWith('wrong-origin'));
    await assert.rejects(openIn(directory.path, 'other.example/ledger'), /set the origin back to .+, or begin a log/);
    await writeFile(file, '');
    await using log = await openIn(directory.path);
    assert.equal(log.size, 300);
  });

  it('refuses tiles that are missing, cut off or altered', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, SEGMENT_LEAVES + 1);
    const tile = path.join(directory.path, 'tile/0/003');
    const bytes = readFileSync(tile);
    for (const damage of [() => alter(tile, 77), () => truncate(tile, 100), () => rm(tile)]) {
      await damage();
      await assert.rejects(openIn(directory.path), failsWith('corrupt-tile'));
      await assert.rejects(checkLog(directory.path), failsWith('corrupt-tile'));
    }
    await writeFile(tile, bytes);
    await alter(path.join(directory.path, 'tile/entries/003'), 77);
    await assert.rejects(checkLog(directory.path), failsWith('corrupt-tile'));
    await using log = await openIn(directory.path);
    await assert.rejects(log.receipt(idOf(leafOf(768))), failsWith('corrupt-tile'));
    assert.equal((await log.receipt(idOf(leafOf(0))))?.index, 0);
  });

  it('removes segments that a power cut brought back', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 10);
    const old = readFileSync(newestSegment(directory.path));
    await using other = await temporaryDirectory();
    await logOf(other.path, 3 * SEGMENT_LEAVES + 1);
    const returned = path.join(other.path, 'journal', '0'.repeat(16));
    await writeFile(returned, old);
    await using log = await openIn(other.path);
    assert.equal(log.size, 3 * SEGMENT_LEAVES + 1);
    assert.ok(!existsSync(returned));
  });
});
