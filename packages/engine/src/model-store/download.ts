// Downloads one file of a repository into the store.
import { type DownloadedBytes, downloadFile } from '@strata/files';
import { ModelStoreError } from './error.ts';
import { ggufOnly } from './gguf-file.ts';
import { fileAddress, openFile } from './hub.ts';
import type { Hub } from './hub-request.ts';
import { formatReference, type Repository } from './reference.ts';
import { type RetryPolicy, TransientError, withRetries } from './retry.ts';
import type { HubFile } from './select-files.ts';
import type { ModelPaths } from './store-files.ts';

export interface DownloadProgress extends DownloadedBytes {
  /** Inside the repository. */
  readonly file: string;
}

interface Download {
  readonly hub: Hub;
  readonly repository: Repository;
  /** Its path, and the facts of the repository's listing. */
  readonly file: HubFile;
  readonly paths: ModelPaths;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly retry: RetryPolicy;
}

const REPORT_INTERVAL_MS = 100;

/**
 * Stores the verified file. Call under the lock. Rejects with ModelStoreError, DiskError, and the signal's reason;
 * received bytes are kept for the next download, unless they are `corrupt`.
 */
export async function download(job: Download): Promise<void> {
  const { file, onProgress, retry } = job;
  let receivedBytes = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (progress: DownloadedBytes): void => {
    ({ receivedBytes } = progress);
    const now = performance.now();
    if (now - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = now;
    onProgress?.({ file: file.path, ...progress });
  };
  const totalBytes = await withRetries(
    () => receive(job, report),
    retry,
    () => receivedBytes,
  );
  onProgress?.({ file: file.path, receivedBytes: totalBytes, totalBytes });
}

/** The size of the complete file, received over one connection. */
async function receive(job: Download, onProgress: (progress: DownloadedBytes) => void): Promise<number> {
  const { hub, repository, file, paths } = job;
  const { signal } = job.retry;
  const name = formatReference(repository, file.path);
  const outcome = await downloadFile<never>(paths.model, {
    source: fileAddress(hub, repository, file.path).href,
    expected: file,
    check: (chunks) => ggufOnly(chunks, name),
    notePath: paths.note,
    onProgress,
    signal,
    request: async (range, read) => {
      await using answer = await openFile(hub, { repository, file: file.path, range, signal });
      const { sha256 } = answer.published;
      if (file.sha256 === undefined || sha256 === undefined || sha256 === file.sha256) return await read(answer);
      const message = `${name} differs from the file in the repository's listing; try again later`;
      throw new ModelStoreError('corrupt', message);
    },
  });
  switch (outcome.kind) {
    case 'complete':
      return outcome.sizeBytes;
    case 'answered':
      throw new TransientError(`${hub.endpoint.host} answers ${outcome.status} for ${name}`);
    case 'cut':
      throw outcome.cause instanceof TransientError
        ? outcome.cause
        : new TransientError(`${name} was ${outcome.detail}`, { cause: outcome.cause });
    case 'refused':
      throw new ModelStoreError('corrupt', `${name} ${outcome.detail}`);
  }
}
