// A witness by itself, as its clients and a restart find it.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { formatAddCheckpoint, signNote } from '@strata/receipts';
import { noteSigner } from '../log.ts';
import { appendAll, upTo } from '../test/conformance.ts';
import { ORIGIN, testSigner } from '../test/fixture.ts';
import { alter, failsWith, inDirectory, openIn } from '../test/log-on-disk.ts';
import { startWitnesses } from '../test/public-log.ts';

describe('a witness', () => {
  /** Shows a witness the first checkpoint that it sees of a log, of so many leaves. */
  async function requestOf(directory: string, leaves: number): Promise<string> {
    await using log = await openIn(directory);
    await appendAll(log, upTo(leaves));
    return formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint: log.checkpoint() });
  }

  inDirectory('remembers across a restart what it has cosigned, and serves it to any client', async (directory) => {
    await using witnesses = await startWitnesses(1);
    const [witness = assert.fail()] = witnesses.witnesses;
    const request = await requestOf(directory, 5);
    const cosigned = await witness.addCheckpoint(request);
    const [hash = ''] = readdirSync(path.join(witnesses.directory, '0/checkpoints'));
    const shown = witness.checkpoint(hash) ?? '';
    assert.ok(cosigned.status === 200 && shown.endsWith(cosigned.body) && (await witnesses.cosigned(shown)));
    await assert.rejects(witnesses.open(0), failsWith('locked'));
    await witness[Symbol.asyncDispose]();
    {
      await using again = await witnesses.open(0);
      assert.deepEqual([again.verifierKey, again.checkpoint(hash)], [witness.verifierKey, shown]);
      const { status, contentType, body } = await again.addCheckpoint(request);
      assert.deepEqual([status, contentType, body], [409, 'text/x.tlog.size', '5\n']);
    }
    const file = path.join(witnesses.directory, '0/checkpoints', hash);
    for (const damage of [() => alter(file, 40), () => writeFile(file, '')]) {
      await damage();
      await assert.rejects(witnesses.open(0), failsWith('corrupt-checkpoint'));
    }
  });

  inDirectory('cosigns one of several checkpoints that are shown to it at once', async (directory) => {
    await using witnesses = await startWitnesses(1);
    const requests = await Promise.all([3, 4, 5, 6].map((size) => requestOf(path.join(directory, `${size}`), size)));
    const answers = await Promise.all(requests.map((request) => witnesses.witnesses[0]?.addCheckpoint(request)));
    assert.deepEqual(answers.map((answer) => answer?.status).sort(), [200, 409, 409, 409]);
    assert.equal(new Set(answers.flatMap((answer) => (answer?.status === 409 ? [answer.body] : []))).size, 1);
  });

  inDirectory('cosigns only what it can read back after a restart', async (directory) => {
    await using witnesses = await startWitnesses(1);
    const [witness = assert.fail()] = witnesses.witnesses;
    const request = await requestOf(directory, 5);
    const [line = ''] = /— .+\n$/.exec(request) ?? [];
    assert.equal((await witness.addCheckpoint(request + line.repeat(63))).status, 200);
    const root = Buffer.alloc(32, 1).toString('base64');
    const text = `${ORIGIN}\n6\n${root}\n${'x'.repeat(65_300)}\n`;
    await using other = await startWitnesses(1);
    const checkpoint = signNote(text, [noteSigner(ORIGIN, testSigner())]);
    const long = formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint });
    assert.equal((await other.witnesses[0]?.addCheckpoint(long))?.status, 400);
    await witness[Symbol.asyncDispose]();
    await using _again = await witnesses.open(0);
  });

  inDirectory('that cannot record a checkpoint gives out no cosignature', async (directory) => {
    await using witnesses = await startWitnesses(1);
    const [witness = assert.fail()] = witnesses.witnesses;
    const folder = path.join(witnesses.directory, '0/checkpoints');
    await rename(folder, `${folder}.aside`);
    await assert.rejects(witness.addCheckpoint(await requestOf(directory, 5)), { code: 'ENOENT' });
    await rename(`${folder}.aside`, folder);
    assert.equal((await witness.addCheckpoint(await requestOf(path.join(directory, 'other'), 6))).status, 200);
  });
});
