// A log on disk while it is open: what every log does, segments, its lock and its keys.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'node:test';
import { checkLog, openLog } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { appendAll, logConformance, upTo } from './test/conformance.ts';
import { ORIGIN, temporaryDirectory, testSigner, VERIFIERS } from './test/fixture.ts';
import { failsWith, inDirectory, logOf, openIn } from './test/log-on-disk.ts';

logConformance({
  name: 'on disk',
  skip: false,
  async fresh() {
    const directory = await temporaryDirectory();
    return { open: () => openIn(directory.path), [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
  },
});

describe('an open log on disk', () => {
  inDirectory('batches appends, and is locked against a second writer', async (directory) => {
    await using log = await openIn(directory);
    await appendAll(log, upTo(300));
    assert.ok(log.stats().commits < 30);
    await assert.rejects(openIn(directory), failsWith('locked'));
  });

  inDirectory('moves complete segments into tiles and drops them from the journal', async (directory) => {
    const leaves = 2 * SEGMENT_LEAVES + 700;
    await logOf(directory, leaves);
    const report = await checkLog(directory, VERIFIERS);
    assert.deepEqual([report.size, report.checkpointSize], [leaves, leaves]);
    assert.deepEqual(readdirSync(path.join(directory, 'journal')), [String(2 * SEGMENT_LEAVES).padStart(16, '0')]);
  });

  inDirectory('signs with a new key after a rotation, and opens with it', async (directory) => {
    await logOf(directory, 3);
    {
      await using log = await openLog({ directory, origin: ORIGIN, signer: testSigner(3) });
      assert.equal(log.size, 3);
    }
    await assert.rejects(checkLog(directory, VERIFIERS), failsWith('corrupt-checkpoint'));
    await checkLog(directory);
  });
});
