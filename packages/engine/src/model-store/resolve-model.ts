// Resolves a model reference to a local file: stored already, or downloaded from a hub with Hugging Face's protocol.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { lockFile } from '@strata/db';
import { onDisk } from '@strata/files';
import { type DownloadProgress, download } from './download.ts';
import { ModelStoreError, refuseDiskError } from './error.ts';
import { checkGgufFile } from './gguf-file.ts';
import { listFiles } from './hub.ts';
import type { Hub } from './hub-request.ts';
import { parseReference, type Repository, type Wanted } from './reference.ts';
import { type DownloadRetry, type RetryPolicy, withRetries } from './retry.ts';
import { chooseModel, type HubFile, partsOf } from './select-files.ts';
import {
  finishInterruptedMove,
  isStored,
  type ModelPaths,
  modelPathsOf,
  readListing,
  writeListing,
} from './store-files.ts';

export interface ModelStoreOptions {
  /** Directory of the models; created when needed. */
  readonly dir: string;
  /** The hub; default `https://huggingface.co`. */
  readonly endpoint?: string | undefined;
  /** Bearer token for gated and private models. Sent to the endpoint's own origin only. */
  readonly token?: string | undefined;
  /** Longest silence of a server; default 30 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Consecutive failures before giving up; each retry resumes the download. Default 6. */
  readonly retries?: number | undefined;
  /** Delay before the first retry, doubled for each further one; default 500. */
  readonly retryMs?: number | undefined;
  /** Aborts; the received part is kept, and the next call resumes it. */
  readonly signal?: AbortSignal | undefined;
}

export interface ModelStoreDeps {
  /** Called for each file at most ten times a second, and at its end. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Called before a retry. */
  readonly onRetry?: ((retry: DownloadRetry) => void) | undefined;
}

export interface ResolvedModel {
  /** The file to load; the first part of a split model. */
  readonly path: string;
  /** All parts, in order. */
  readonly files: readonly string[];
  /** Sum of all parts. */
  readonly sizeBytes: number;
  /** Whether anything was downloaded by this call. */
  readonly isDownloaded: boolean;
}

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const DEFAULT_IDLE_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 6;
const DEFAULT_RETRY_MS = 500;

/** The verified local files of a model; no request is made while they are stored. Rejects with ModelStoreError, or with the signal's reason. */
export async function resolveModel(
  reference: string,
  options: ModelStoreOptions,
  { onProgress, onRetry }: ModelStoreDeps = {},
): Promise<ResolvedModel> {
  const { dir, retries = DEFAULT_RETRIES, retryMs = DEFAULT_RETRY_MS, signal } = options;
  const parsed = parseReference(reference);
  signal?.throwIfAborted();
  if (parsed.kind === 'local') return resolved(partsOf(path.resolve(parsed.path)), false).catch(refuseDiskError);
  return resolveOnHub({
    ...parsed,
    dir: path.resolve(dir),
    hub: hubOf(options),
    retry: { retries, retryMs, onRetry, signal },
    onProgress,
  }).catch(refuseDiskError);
}

/** What is wanted, and where from. */
interface Search {
  readonly repository: Repository;
  readonly wanted: Wanted;
  readonly dir: string;
  readonly hub: Hub;
  readonly retry: RetryPolicy;
  readonly onProgress: ModelStoreDeps['onProgress'];
}

async function resolveOnHub(search: Search): Promise<ResolvedModel> {
  const remembered = await rememberedFiles(search);
  if (remembered && (await areStored(search, remembered))) return resolved(pathsIn(search, remembered), false);
  const files = namedFiles(search) ?? (await listedFiles(search));
  let isDownloaded = false;
  for (const file of files) if (await obtain(search, file)) isDownloaded = true;
  return resolved(pathsIn(search, files), isDownloaded);
}

/** Files that the reference names. */
function namedFiles({ wanted }: Search): readonly HubFile[] | undefined {
  return wanted.kind === 'file' ? partsOf(wanted.path).map((file) => ({ path: file })) : undefined;
}

/** Without any request; undefined if only the hub knows the files. */
async function rememberedFiles(search: Search): Promise<readonly HubFile[] | undefined> {
  const { repository, wanted, dir } = search;
  const listing = await readListing(dir, repository);
  try {
    return namedFiles(search) ?? (listing && chooseModel(listing, wanted, repository));
  } catch {
    // The hub may have added the file since.
    return undefined;
  }
}

async function listedFiles({ repository, wanted, dir, hub, retry }: Search): Promise<readonly HubFile[]> {
  const listing = await withRetries(() => listFiles(hub, repository, retry.signal), retry);
  const files = chooseModel(listing, wanted, repository);
  await writeListing(dir, repository, listing);
  return files;
}

async function areStored({ dir, repository }: Search, files: readonly HubFile[]): Promise<boolean> {
  for (const file of files) if (!(await isStored(modelPathsOf(dir, repository, file.path), file))) return false;
  return true;
}

/** Whether the file was downloaded. */
async function obtain(search: Search, file: HubFile): Promise<boolean> {
  const { dir, hub, repository, retry, onProgress } = search;
  const paths = modelPathsOf(dir, repository, file.path);
  if (await isStored(paths, file)) return false;
  using _lock = await takeLock(paths);
  await finishInterruptedMove(paths);
  // Another process may have downloaded it since.
  if (await isStored(paths, file)) return false;
  await download({ hub, repository, file, paths, onProgress, retry });
  return true;
}

/** One download of a file at a time, across processes. Rejects with `busy` while another holds the lock. */
async function takeLock({ lock, model }: ModelPaths): Promise<Disposable> {
  const locking = async () => {
    await mkdir(path.dirname(lock), { recursive: true });
    return lockFile(lock);
  };
  const held = await onDisk('lock the model', locking());
  if (held) return held;
  throw new ModelStoreError('busy', `${path.basename(model)} is already being downloaded, possibly by another process`);
}

function pathsIn({ dir, repository }: Search, files: readonly HubFile[]): readonly string[] {
  return files.map((file) => modelPathsOf(dir, repository, file.path).model);
}

async function resolved(files: readonly string[], isDownloaded: boolean): Promise<ResolvedModel> {
  const sizes = await Promise.all(files.map(checkGgufFile));
  return { path: files[0] ?? '', files, sizeBytes: sizes.reduce((sum, size) => sum + size, 0), isDownloaded };
}

function hubOf({
  endpoint = DEFAULT_ENDPOINT,
  token,
  idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS,
}: ModelStoreOptions): Hub {
  const url = URL.parse(endpoint);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new ModelStoreError('bad-reference', 'the endpoint is not a plain http or https address');
  }
  // The token must be a valid header value.
  if (token !== undefined && !/^[\x21-\x7e]{1,1000}$/.test(token)) {
    throw new ModelStoreError('bad-reference', 'the token contains invalid characters');
  }
  return { endpoint: url, token, idleTimeoutMs };
}
