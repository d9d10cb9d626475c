// Downloads one file of a repository into the store.
import { type DocumentNote, type DownloadedBytes, downloadFile } from '@strata/files';
import { ModelStoreError } from './error.ts';
import { ggufOnly } from './gguf-file.ts';
import { type FileAnswer, fileAddress, openFile } from './hub.ts';
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
  /** Facts of the stored file; it is replaced only if the hub has another version. */
  readonly current?: DocumentNote | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly retry: RetryPolicy;
}

const REPORT_INTERVAL_MS = 100;

/**
 * Returns whether a file was stored; false: the stored file is the hub's current version. Call under the lock. Rejects
 * with ModelStoreError, DiskError, and the signal's reason; received bytes are kept for the next download, unless they
 * are `corrupt`.
 */
export async function download(job: Download): Promise<boolean> {
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
  const outcome = await withRetries(
    () => receive(job, report),
    retry,
    () => receivedBytes,
  );
  if (outcome.kind === 'unchanged') return false;
  const { sizeBytes, isResumed } = outcome;
  onProgress?.({ file: file.path, receivedBytes: sizeBytes, totalBytes: sizeBytes, isResumed });
  return true;
}

async function receive(job: Download, onProgress: (progress: DownloadedBytes) => void) {
  const { hub, repository, file, paths, current, retry } = job;
  const { signal } = retry;
  const name = formatReference(repository, file.path);
  const outcome = await downloadFile(paths.model, {
    source: fileAddress(hub, repository, file.path).href,
    expected: file,
    check: (chunks) => ggufOnly(chunks, name),
    notePath: paths.note,
    // All bytes of an outdated version may have been received before.
    isRevalidated: current !== undefined,
    onProgress,
    signal,
    request: async (range, read) => {
      const { path } = file;
      await using answer = await openFile(hub, {
        repository,
        file: path,
        range,
        unlessSha256: current?.sha256,
        signal,
      });
      if (answer.isUnchanged || hasTagOf(answer, current)) return { kind: 'unchanged' } as const;
      const { sha256 } = answer.published;
      if (file.sha256 === undefined || sha256 === undefined || sha256 === file.sha256) return await read(answer);
      const message = `${name} differs from the file in the repository's listing; try again later`;
      throw new ModelStoreError('corrupt', message);
    },
  });
  switch (outcome.kind) {
    case 'answered':
      throw new TransientError(`${hub.endpoint.host} answers ${outcome.status} for ${name}`);
    case 'cut':
      throw outcome.cause instanceof TransientError
        ? outcome.cause
        : new TransientError(`${name} was ${outcome.detail}`, { cause: outcome.cause });
    case 'refused':
      throw new ModelStoreError('corrupt', `${name} ${outcome.detail}`);
    default:
      return outcome;
  }
}

/** Where the hub publishes no hash, the entity tag identifies the version. */
function hasTagOf({ status, headers, published }: FileAnswer, current: DocumentNote | undefined): boolean {
  return (
    current?.etag !== undefined &&
    status === 200 &&
    published.sha256 === undefined &&
    headers.etag === current.etag &&
    headers['content-length'] === String(current.sizeBytes)
  );
}
