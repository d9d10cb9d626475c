// A directory of its own for the downloads of a test file, and a new name in it for each test.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import type { Downloaded, DownloadRequest } from '../fetcher.ts';
import type { Internet } from './fetching.ts';

export const URL_OF_IT = 'http://example.com/model.bin';

export interface Downloads {
  directory: string;
  file: string;
}

/** Made anew before each test of the file. */
export function useDownloads() {
  const downloads = {} as Downloads;
  let number = 0;
  before(async () => {
    downloads.directory = await mkdtemp(join(tmpdir(), 'strata-download-'));
  });
  beforeEach(() => {
    downloads.file = join(downloads.directory, `file-${number++}`);
  });
  after(() => rm(downloads.directory, { recursive: true }));
  const left = (ending: string) => existsSync(`${downloads.file}${ending}`);
  return {
    downloads,
    left,
    get: (internet: Internet, request: Partial<DownloadRequest> = {}, url = URL_OF_IT): Promise<Downloaded> =>
      internet.fetcher.download(url, downloads.file, { maxBytes: 10_000_000, timeoutMs: 5_000, ...request }),
    async assertWhole(outcome: Downloaded, content: Buffer): Promise<void> {
      assert.equal(outcome.kind, 'downloaded', JSON.stringify(outcome));
      assert.equal(outcome.kind === 'downloaded' && outcome.sizeBytes, content.length);
      assert.ok((await readFile(downloads.file)).equals(content));
      assert.deepEqual([left('.part'), left('.part.json')], [false, false]);
    },
  };
}
