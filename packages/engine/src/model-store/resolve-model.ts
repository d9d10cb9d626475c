// Resolves a model reference to a local file: stored already, or downloaded from a hub with Hugging Face's protocol.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { waitForLock } from '@strata/db';
import { createReporter, type DownloadProgress, download } from './download.ts';
import { ModelStoreError, onDisk } from './error.ts';
import { checkGgufFile, hashFile } from './gguf-file.ts';
import { listFiles } from './hub.ts';
import type { Hub } from './hub-request.ts';
import { type ModelReference, parseReference, type Repository, type Wanted } from './reference.ts';
import { type DownloadRetry, type RetryPolicy, withRetries } from './retry.ts';
import { chooseModel, type HubFile, partsOf } from './select-files.ts';
import {
  exists,
  finishInterruptedMove,
  listingPath,
  type ModelPaths,
  modelPathsOf,
  type Note,
  readListing,
  readNote,
  writeNote,
} from './store-files.ts';

export interface ModelStoreOptions {
  /** Directory of the models; created when needed. */
  readonly dir: string;
  /** The hub; default `https://huggingface.co`. */
  readonly endpoint?: string | undefined;
  /** Bearer token for gated and private models. Sent to the endpoint's own origin only. */
  readonly token?: string | undefined;
  /** Checks the hub for a newer version. Otherwise no request is made while the files are stored. */
  readonly refresh?: boolean | undefined;
  /** Wait for another download of the same file before `busy`; default 0. */
  readonly waitMs?: number | undefined;
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

type HubReference = Extract<ModelReference, { kind: 'hub' }>;

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const DEFAULT_IDLE_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 6;
const DEFAULT_RETRY_MS = 500;

/** The verified local files of a model. Rejects with ModelStoreError, or with the signal's reason. */
export async function resolveModel(
  reference: string,
  options: ModelStoreOptions,
  deps: ModelStoreDeps = {},
): Promise<ResolvedModel> {
  const parsed = parseReference(reference);
  options.signal?.throwIfAborted();
  if (parsed.kind === 'local') return resolved(partsOf(path.resolve(parsed.path)), { isDownloaded: false });
  const search = searchFor(parsed, options, deps);
  return (await findStored(search)) ?? (await fetchFiles(search));
}

/** The state of resolving one reference. */
interface Search {
  readonly repository: Repository;
  readonly wanted: Wanted;
  readonly options: ModelStoreOptions;
  readonly hub: Hub;
  readonly retry: RetryPolicy;
  readonly onProgress: ModelStoreDeps['onProgress'];
}

function searchFor(
  { repository, wanted }: HubReference,
  options: ModelStoreOptions,
  { onProgress, onRetry }: ModelStoreDeps,
): Search {
  const { retries = DEFAULT_RETRIES, retryMs = DEFAULT_RETRY_MS, signal } = options;
  const absolute = { ...options, dir: path.resolve(options.dir) };
  return {
    repository,
    wanted,
    options: absolute,
    hub: hubOf(options),
    retry: { retries, retryMs, onRetry, signal },
    onProgress,
  };
}

/** Without any request: undefined where a file is missing, or `refresh` is set. */
async function findStored(search: Search): Promise<ResolvedModel | undefined> {
  const files = search.options.refresh ? undefined : await rememberedFiles(search);
  if (!files) return undefined;
  for (const file of files) if (!(await isStored(pathsIn(search, file), file))) return undefined;
  return resolved(pathsOf(search, files), { isDownloaded: false });
}

async function fetchFiles(search: Search): Promise<ResolvedModel> {
  const files = namedFiles(search) ?? (await listedFiles(search));
  let isDownloaded = false;
  for (const file of files) if (await obtain(search, file)) isDownloaded = true;
  return resolved(pathsOf(search, files), { isDownloaded });
}

/** Files that the reference names. */
function namedFiles({ wanted }: Search): readonly HubFile[] | undefined {
  if (wanted.kind !== 'file') return undefined;
  return partsOf(wanted.path).map((file) => ({ path: file }));
}

async function rememberedFiles(search: Search): Promise<readonly HubFile[] | undefined> {
  const { repository, wanted, options } = search;
  const listing = await readListing(listingPath(options.dir, repository));
  try {
    return namedFiles(search) ?? (listing && chooseModel(listing, wanted, repository));
  } catch {
    // The hub may have added the file since.
    return undefined;
  }
}

async function listedFiles({ repository, wanted, options, hub, retry }: Search): Promise<readonly HubFile[]> {
  const listing = await withRetries(() => listFiles(hub, repository, options.signal), retry);
  const files = chooseModel(listing, wanted, repository);
  await writeNote(listingPath(options.dir, repository), listing);
  return files;
}

/** Whether the file was downloaded. */
async function obtain(search: Search, file: HubFile): Promise<boolean> {
  const { refresh = false, signal } = search.options;
  const paths = pathsIn(search, file);
  if (!refresh && (await isStored(paths, file))) return false;
  using _lock = await takeLock(paths, search.options);
  await finishInterruptedMove(paths);
  // Another process may have downloaded it while this one waited for the lock.
  if (!refresh && (await isStored(paths, file))) return false;
  // `await` keeps the lock until the download ends.
  return await download({
    hub: search.hub,
    repository: search.repository,
    file,
    paths,
    current: refresh ? await currentOf(paths, signal) : undefined,
    reporter: createReporter(search.onProgress),
    retry: search.retry,
  });
}

/**
 * One download of a file at a time, across processes. Rejects with `busy` when another does not end within `waitMs`.
 */
async function takeLock({ lock, model }: ModelPaths, { waitMs = 0, signal }: ModelStoreOptions): Promise<Disposable> {
  await onDisk('lock the model', mkdir(path.dirname(lock), { recursive: true }));
  const held = await waitForLock(lock, { waitMs, signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    return onDisk('lock the model', Promise.reject(error));
  });
  if (held) return held;
  throw new ModelStoreError('busy', `${path.basename(model)} is already being downloaded, possibly by another process`);
}

function pathsIn({ options, repository }: Search, file: HubFile): ModelPaths {
  return modelPathsOf(options.dir, repository, file.path);
}

function pathsOf(search: Search, files: readonly HubFile[]): readonly string[] {
  return files.map((file) => pathsIn(search, file).model);
}

/**
 * Whether the file is stored, is the listed version, and has its recorded size. A file without a note was added by hand
 * and is accepted as is. A note that still belongs to a part shows an interrupted move: `finishInterruptedMove`
 * completes it under the lock.
 */
async function isStored({ model, note, part, partNote }: ModelPaths, { sha256 }: HubFile): Promise<boolean> {
  const found = await stat(model).catch(() => undefined);
  if (!found?.isFile()) return false;
  const known = await readNote(note);
  if (!known) return (await exists(part)) || !(await exists(partNote));
  const isListed = sha256 === undefined || known.sha256 === undefined || sha256 === known.sha256;
  return isListed && known.sizeBytes === found.size;
}

/** Facts of the stored file. */
async function currentOf({ model, note }: ModelPaths, signal: AbortSignal | undefined): Promise<Note | undefined> {
  const found = await stat(model).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const known = await readNote(note);
  if (known) return known.sizeBytes === found.size ? known : undefined;
  return { source: '', sizeBytes: found.size, sha256: await hashFile(model, signal) };
}

async function resolved(
  files: readonly string[],
  { isDownloaded }: { readonly isDownloaded: boolean },
): Promise<ResolvedModel> {
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
