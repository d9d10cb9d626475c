import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { KeyFileError } from './key-file.ts';
import { lockKey } from './key-lock.ts';
import { useDirectory } from './test/hosts.ts';

describe('lock of a key', () => {
  const directory = useDirectory();

  it('has one holder, the first of many, and is free after it', async () => {
    const file = path.join(directory.path, 'deep', 'peer.key');
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockKey(file)));
    const held = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    assert.equal(held.length, 1);
    for (const error of errors) assert.ok(error instanceof KeyFileError);
    held[0]?.[Symbol.dispose]();
    (await lockKey(file))[Symbol.dispose]();
  });

  it('is none where no file can be written, and an error where one is in the way', async () => {
    if (process.platform === 'linux') (await lockKey('/proc/peer.key'))[Symbol.dispose]();
    const file = path.join(directory.path, 'peer.key');
    await writeFile(`${file}.lock`, 'x'.repeat(4_096));
    await assert.rejects(lockKey(file), KeyFileError);
  });
});
