// A log on disk while it is open: what every log does, segments, its lock and its keys.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkLog, openLog } from './index.ts';
import { SEGMENT_LEAVES } from './journal.ts';
import { appendAll, logConformance, upTo } from './test/conformance.ts';
import { idOf, leafOf, ORIGIN, temporaryDirectory, testSigner, VERIFIERS } from './test/fixture.ts';
import { failsWith, logOf, openIn } from './test/log-on-disk.ts';

logConformance({
  name: 'on disk',
  skip: false,
  async fresh() {
    const directory = await temporaryDirectory();
    return { open: () => openIn(directory.path), [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
  },
});

describe('an open log on disk', () => {
  it('shares commits among appends, and is locked against a second writer until it is closed', async () => {
    await using directory = await temporaryDirectory();
    const log = await openIn(directory.path);
    await appendAll(log, upTo(300));
    assert.ok(log.stats().commits < 30);
    await assert.rejects(openIn(directory.path), failsWith('locked'));
    await log[Symbol.asyncDispose]();
    await using next = await openIn(directory.path);
    assert.equal(next.size, 300);
  });

  it('moves whole segments into tiles and drops them from the journal', async () => {
    await using directory = await temporaryDirectory();
    const leaves = 2 * SEGMENT_LEAVES + 700;
    await logOf(directory.path, leaves);
    const report = await checkLog(directory.path, VERIFIERS);
    assert.deepEqual([report.size, report.checkpointSize], [leaves, leaves]);
    assert.deepEqual(readdirSync(path.join(directory.path, 'journal')), [String(2 * SEGMENT_LEAVES).padStart(16, '0')]);
    await using log = await openIn(directory.path);
    for (const number of [0, 4095, 4096, leaves - 1]) {
      assert.equal((await log.receipt(idOf(leafOf(number))))?.index, number);
    }
    assert.equal((await log.append(leafOf(leaves))).index, leaves);
  });

  it('signs with a new key after a rotation, and opens with it', async () => {
    await using directory = await temporaryDirectory();
    await logOf(directory.path, 3);
    const log = await openLog({ directory: directory.path, origin: ORIGIN, signer: testSigner(3) });
    assert.equal(log.size, 3);
    await log[Symbol.asyncDispose]();
    await assert.rejects(checkLog(directory.path, VERIFIERS), failsWith('corrupt-checkpoint'));
    await checkLog(directory.path);
  });
});
