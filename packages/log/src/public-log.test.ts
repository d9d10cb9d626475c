// Witnesses of a log and copies of it, for a log on disk; and a witness by itself, as its clients and a restart find it.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { consistencyProof, formatAddCheckpoint } from '@strata/receipts';
import { appendAll, upTo } from './test/conformance.ts';
import { tilesServedBy } from './test/fixture.ts';
import { alter, failsWith, inDirectory, onDisk, openIn } from './test/log-on-disk.ts';
import { publicLogConformance, startWitnesses } from './test/public-log.ts';

publicLogConformance(onDisk);

describe('a witness', () => {
  /** Requests for the checkpoints of a growing log; the proof is from the size before. */
  async function growing(directory: string, sizes: readonly number[]) {
    await using log = await openIn(directory);
    const requests: string[] = [];
    let old = 0;
    for (const size of sizes) {
      await appendAll(log, upTo(size).slice(log.size));
      const proof = await consistencyProof(tilesServedBy(log), old, size);
      requests.push(formatAddCheckpoint({ oldSize: old, proof, checkpoint: log.checkpoint() }));
      old = size;
    }
    return requests;
  }

  inDirectory('remembers over a restart what it has cosigned, and shows it to anybody', async (directory) => {
    await using witnesses = await startWitnesses(1);
    const [witness = assert.fail()] = witnesses.witnesses;
    const [first = '', second = ''] = await growing(directory, [5, 9]);
    const { status, body } = await witness.addCheckpoint(first);
    assert.equal(status, 200);
    const [file = ''] = readdirSync(path.join(witnesses.directory, '0/checkpoints'));
    assert.ok(witness.checkpoint(file)?.endsWith(body));
    assert.ok(await witnesses.cosigned(witness.checkpoint(file) ?? ''));
    assert.equal(witness.checkpoint('0'.repeat(64)), undefined);
    await assert.rejects(witnesses.open(0), failsWith('locked'));
    await witness[Symbol.asyncDispose]();
    {
      await using again = await witnesses.open(0);
      assert.deepEqual([again.verifierKey, again.checkpoint(file)], [witness.verifierKey, witness.checkpoint(file)]);
      assert.partialDeepStrictEqual(await again.addCheckpoint(first), {
        status: 409,
        contentType: 'text/x.tlog.size',
        body: '5\n',
      });
      assert.equal((await again.addCheckpoint(second)).status, 200);
    }
    const stored = path.join(witnesses.directory, '0/checkpoints', file);
    await alter(stored, 40);
    await assert.rejects(witnesses.open(0), failsWith('corrupt-checkpoint'));
    await writeFile(stored, '');
    await assert.rejects(witnesses.open(0), failsWith('corrupt-checkpoint'));
  });

  inDirectory(
    'cosigns one of several checkpoints that are shown to it at once, whichever comes first',
    async (directory) => {
      await using witnesses = await startWitnesses(1);
      const [witness = assert.fail()] = witnesses.witnesses;
      const sizes = [3, 4, 5, 6, 7, 8];
      const requests = await Promise.all(sizes.map((size, at) => growing(path.join(directory, `${at}`), [size])));
      const answers = await Promise.all(requests.flat().map((request) => witness.addCheckpoint(request)));
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual(statuses.sort(), [200, ...Array(sizes.length - 1).fill(409)]);
      assert.equal(new Set(answers.flatMap(({ status, body }) => (status === 409 ? [body] : []))).size, 1);
    },
  );

  inDirectory('that cannot record a checkpoint gives out no cosignature', async (directory) => {
    await using witnesses = await startWitnesses(1);
    const [witness = assert.fail()] = witnesses.witnesses;
    const [first = '', second = ''] = await growing(directory, [5, 9]);
    assert.equal((await witness.addCheckpoint(first)).status, 200);
    const folder = path.join(witnesses.directory, '0/checkpoints');
    await rename(folder, `${folder}.aside`);
    await assert.rejects(witness.addCheckpoint(second), { code: 'ENOENT' });
    await rename(`${folder}.aside`, folder);
    assert.deepEqual((await witness.addCheckpoint(first)).status, 409, 'it goes on from what it has cosigned');
    assert.equal((await witness.addCheckpoint(second)).status, 200);
  });
});
