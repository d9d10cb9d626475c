// Vocabulary files: fetched once, checked always, and no more of them than there is room for.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { VocabularyCache, VocabularyError } from './vocabulary-cache.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-vocabularies-'));
});
after(() => rm(directory, { recursive: true, force: true }));

const file = (text: string) => {
  const bytes = Buffer.from(text);
  return { bytes, sha256: hash('sha256', bytes) };
};
const never = async (): Promise<Uint8Array> => assert.fail('it was fetched');

describe('vocabulary files', () => {
  it('are fetched once, also by two at the same time, and found by the next process', async () => {
    const place = path.join(directory, 'once');
    const { bytes, sha256 } = file('one');
    let fetched = 0;
    const fetch = async () => {
      fetched += 1;
      return bytes;
    };
    const cache = new VocabularyCache({ directory: place });
    const [first, second] = await Promise.all([cache.file(sha256, fetch), cache.file(sha256, fetch)]);
    assert.equal(first, second);
    assert.deepEqual(await readFile(first), bytes);
    await new VocabularyCache({ directory: place }).file(sha256, never);
    assert.equal(fetched, 1);
    assert.deepEqual(await readdir(place), [`${sha256}.gguf`]);
  });

  it('that were tampered with on disk are fetched again', async () => {
    const cache = new VocabularyCache({ directory: path.join(directory, 'tampered') });
    const { bytes, sha256 } = file('right');
    const at = await cache.file(sha256, async () => bytes);
    for (const wrong of ['wrong', 'righ', '']) {
      await writeFile(at, wrong);
      assert.equal(await cache.file(sha256, async () => bytes), at);
      assert.deepEqual(await readFile(at), bytes);
    }
  });

  it('with another digest, or too large, leave nothing behind', async () => {
    const place = path.join(directory, 'refused');
    const cache = new VocabularyCache({ directory: place, mostBytes: 10 });
    const large = file('eleven bytes');
    for (const [sha256, came] of [
      [file('asked for').sha256, 'something'],
      [file('asked for').sha256, ''],
      [large.sha256, large.bytes],
    ] as const)
      await assert.rejects(
        cache.file(sha256, async () => Buffer.from(came)),
        VocabularyError,
      );
    assert.deepEqual(await readdir(place).catch(() => []), []);
    const { bytes, sha256 } = file('asked for');
    await cache.file(sha256, async () => bytes);
  });

  it('beyond the bound give way, those used longest ago first, and so does what a kill left half written', async () => {
    const place = path.join(directory, 'bounded');
    const cache = new VocabularyCache({ directory: place, mostFiles: 2 });
    const files = ['a', 'b', 'c'].map(file);
    for (const [i, { bytes, sha256 }] of files.entries()) {
      const at = await cache.file(sha256, async () => bytes);
      const usedAt = new Date(1_000_000 * (i + 1));
      if (i < 2) await utimes(at, usedAt, usedAt);
      if (i === 1) {
        // The first is used again: the second is the oldest now, but for what was left.
        await cache.file(files[0]?.sha256 ?? '', never);
        await writeFile(path.join(place, 'left.part'), 'half');
        await utimes(path.join(place, 'left.part'), new Date(1_000), new Date(1_000));
      }
    }
    const left = (await readdir(place)).sort();
    assert.deepEqual(left, [files[0], files[2]].map((each) => `${each?.sha256}.gguf`).sort());
  });
});
