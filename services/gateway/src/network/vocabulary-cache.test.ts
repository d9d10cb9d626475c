// Vocabulary files: fetched once, checked always, and no more of them than there is room for.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempDisposable, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { VocabularyCache, VocabularyError } from './vocabulary-cache.ts';

const file = (text: string) => {
  const bytes = Buffer.from(text);
  return { bytes, sha256: hash('sha256', bytes) };
};
const never = async (): Promise<Uint8Array> => assert.fail('it was fetched');

const temporary = () => mkdtempDisposable(path.join(tmpdir(), 'strata-vocabularies-'));

describe('vocabulary files', () => {
  it('are fetched once, also by two at the same time, and found by the next process', async () => {
    await using directory = await temporary();
    const { bytes, sha256 } = file('one');
    let fetched = 0;
    const fetch = async () => {
      fetched += 1;
      return bytes;
    };
    const cache = new VocabularyCache({ directory: directory.path });
    const [first, second] = await Promise.all([cache.file(sha256, fetch), cache.file(sha256, fetch)]);
    assert.equal(first, second);
    assert.deepEqual(await readFile(first), bytes);
    await new VocabularyCache({ directory: directory.path }).file(sha256, never);
    assert.equal(fetched, 1);
    assert.deepEqual(await readdir(directory.path), [`${sha256}.gguf`]);
  });

  it('that were tampered with on disk are fetched again', async () => {
    await using directory = await temporary();
    const cache = new VocabularyCache({ directory: directory.path });
    const { bytes, sha256 } = file('right');
    const at = await cache.file(sha256, async () => bytes);
    for (const wrong of ['wrong', 'righ', '']) {
      await writeFile(at, wrong);
      assert.equal(await cache.file(sha256, async () => bytes), at);
      assert.deepEqual(await readFile(at), bytes);
    }
  });

  it('with another digest, or too large, leave nothing behind', async () => {
    await using directory = await temporary();
    const cache = new VocabularyCache({ directory: directory.path, mostBytes: 10 });
    const [asked, large] = [file('asked for'), file('eleven bytes')];
    for (const [sha256, bytes] of [
      [asked.sha256, Buffer.from('something')],
      [asked.sha256, Buffer.alloc(0)],
      [large.sha256, large.bytes],
    ] as const) {
      const fetched = cache.file(sha256, async () => bytes);
      await assert.rejects(fetched, VocabularyError);
    }
    assert.deepEqual(await readdir(directory.path), []);
    await cache.file(asked.sha256, async () => asked.bytes);
  });

  it('beyond the bound give way, those used longest ago first, and so does what a kill left half written', async () => {
    await using directory = await temporary();
    const cache = new VocabularyCache({ directory: directory.path, mostFiles: 2 });
    const half = path.join(directory.path, 'left.part');
    const files = ['a', 'b', 'c'].map(file);
    for (const [i, { bytes, sha256 }] of files.entries()) {
      const at = await cache.file(sha256, async () => bytes);
      const usedAt = new Date(1_000_000 * (i + 1));
      if (i < 2) await utimes(at, usedAt, usedAt);
      if (i === 1) {
        // The first is used again: the second is the oldest now, but for what was left.
        await cache.file(files[0]?.sha256 ?? '', never);
        await writeFile(half, 'half');
        await utimes(half, new Date(1_000), new Date(1_000));
      }
    }
    const left = (await readdir(directory.path)).sort();
    assert.deepEqual(left, [files[0], files[2]].map((each) => `${each?.sha256}.gguf`).sort());
  });
});
