// From a model's reference to its file on this machine: found, or downloaded from a hub that speaks Hugging Face's protocol.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { waitForLock } from '@strata/db';
import { download } from './download.ts';
import { ModelStoreError, onDisk } from './error.ts';
import { checkGgufFile, hashFile } from './gguf-file.ts';
import { listFiles } from './hub.ts';
import type { Hub } from './hub-request.ts';
import { type Note, readListing, readNote, writeNote } from './json-file.ts';
import { exists, settle } from './part-file.ts';
import { listingPath, type ModelPaths, modelPathsOf } from './paths.ts';
import { createReporter, type DownloadProgress } from './progress.ts';
import { type ModelReference, parseReference, type Repository, type Wanted } from './reference.ts';
import { type DownloadRetry, type Patience, persist } from './retry.ts';
import { chooseModel, type HubFile, partsOf } from './select-files.ts';

export interface ModelStoreOptions {
  /** Where models are kept; made when it is needed. */
  readonly dir: string;
  /** The hub; `https://huggingface.co` unless told otherwise. */
  readonly endpoint?: string | undefined;
  /** Bearer token, for gated and private models. It goes to the endpoint's own origin and nowhere else. */
  readonly token?: string | undefined;
  /** Asks the hub whether it has something newer. Otherwise nothing is asked while the files are here. */
  readonly refresh?: boolean | undefined;
  /** How long another download of the same file is waited for before `busy`; 0, not at all, unless told otherwise. */
  readonly waitMs?: number | undefined;
  /** Longest silence of a server; 30 s unless told otherwise. */
  readonly idleTimeoutMs?: number | undefined;
  /** Failures in a row that are borne, each resuming where the one before broke off; 6 unless told otherwise. */
  readonly retries?: number | undefined;
  /** Before the second try, doubled with each further one; 500 unless told otherwise. */
  readonly retryMs?: number | undefined;
  /** What came so far stays, and the next call goes on from there. */
  readonly signal?: AbortSignal | undefined;
}

export interface ModelStoreDeps {
  /** Hears of each file at most ten times a second, and at its end. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Hears that something failed which is tried again. */
  readonly onRetry?: ((retry: DownloadRetry) => void) | undefined;
}

export interface ResolvedModel {
  /** To be loaded: the file, or the first part of a split one. */
  readonly path: string;
  /** All parts, in order. */
  readonly files: readonly string[];
  /** Of all parts. */
  readonly sizeBytes: number;
  /** Something was fetched for it just now. */
  readonly isDownloaded: boolean;
}

type HubReference = Extract<ModelReference, { kind: 'hub' }>;

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const DEFAULT_IDLE_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 6;
const DEFAULT_RETRY_MS = 500;

/** A model's files on this machine, whole and checked. Rejects with ModelStoreError, or with the signal's reason. */
export async function resolveModel(
  reference: string,
  options: ModelStoreOptions,
  deps: ModelStoreDeps = {},
): Promise<ResolvedModel> {
  const parsed = parseReference(reference);
  options.signal?.throwIfAborted();
  if (parsed.kind === 'local') return resolved(partsOf(path.resolve(parsed.path)), { isDownloaded: false });
  const search = searchFor(parsed, options, deps);
  return (await findHere(search)) ?? (await fetchFiles(search));
}

/** One reference on its way to its files. */
interface Search {
  readonly repository: Repository;
  readonly wanted: Wanted;
  readonly options: ModelStoreOptions;
  readonly hub: Hub;
  readonly patience: Patience;
  readonly onProgress: ModelStoreDeps['onProgress'];
}

function searchFor(
  { repository, wanted }: HubReference,
  options: ModelStoreOptions,
  { onProgress, onRetry }: ModelStoreDeps,
): Search {
  const { retries = DEFAULT_RETRIES, retryMs = DEFAULT_RETRY_MS, signal } = options;
  const settled = { ...options, dir: path.resolve(options.dir) };
  return {
    repository,
    wanted,
    options: settled,
    hub: hubOf(options),
    patience: { retries, retryMs, onRetry, signal },
    onProgress,
  };
}

/** Without any request: undefined where something is missing, or news are wanted. */
async function findHere(search: Search): Promise<ResolvedModel | undefined> {
  const files = search.options.refresh ? undefined : await rememberedFiles(search);
  if (!files) return undefined;
  for (const file of files) if (!(await isHere(placesIn(search, file), file))) return undefined;
  return resolved(pathsOf(search, files), { isDownloaded: false });
}

async function fetchFiles(search: Search): Promise<ResolvedModel> {
  const files = namedFiles(search) ?? (await listedFiles(search));
  let isDownloaded = false;
  for (const file of files) if (await obtain(search, file)) isDownloaded = true;
  return resolved(pathsOf(search, files), { isDownloaded });
}

/** Files that the reference names itself. */
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
    // What the list did not have then, the hub may have now.
    return undefined;
  }
}

async function listedFiles({ repository, wanted, options, hub, patience }: Search): Promise<readonly HubFile[]> {
  const listing = await persist(() => listFiles(hub, repository, options.signal), patience);
  const files = chooseModel(listing, wanted, repository);
  await writeNote(listingPath(options.dir, repository), listing);
  return files;
}

/** Whether it had to be fetched. */
async function obtain(search: Search, file: HubFile): Promise<boolean> {
  const { refresh = false, signal } = search.options;
  const places = placesIn(search, file);
  if (!refresh && (await isHere(places, file))) return false;
  using _lock = await takeLock(places, search.options);
  await settle(places);
  // Whoever held the lock may have brought it.
  if (!refresh && (await isHere(places, file))) return false;
  // Awaited here: the lock goes with this function.
  return await download({
    hub: search.hub,
    repository: search.repository,
    file,
    places,
    current: refresh ? await currentOf(places, signal) : undefined,
    reporter: createReporter(search.onProgress),
    patience: search.patience,
  });
}

/** One download of a file at a time, among all processes. Rejects with `busy` when another does not end within `waitMs`. */
async function takeLock({ lock, model }: ModelPaths, { waitMs = 0, signal }: ModelStoreOptions): Promise<Disposable> {
  await onDisk('lock the model', mkdir(path.dirname(lock), { recursive: true }));
  const held = await waitForLock(lock, { waitMs, signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    return onDisk('lock the model', Promise.reject(error));
  });
  if (held) return held;
  throw new ModelStoreError('busy', `${path.basename(model)} is being downloaded already, perhaps by another process`);
}

function placesIn({ options, repository }: Search, file: HubFile): ModelPaths {
  return modelPathsOf(options.dir, repository, file.path);
}

function pathsOf(search: Search, files: readonly HubFile[]): readonly string[] {
  return files.map((file) => placesIn(search, file).model);
}

/**
 * Whether the file is here, is the one that the list has, and was not touched. A file without a note was put here by hand: that is
 * taken as it is. A note that still belongs to a part says that the file has just been put in place: that is settled under the lock.
 */
async function isHere({ model, note, part, partNote }: ModelPaths, { sha256 }: HubFile): Promise<boolean> {
  const found = await stat(model).catch(() => undefined);
  if (!found?.isFile()) return false;
  const known = await readNote(note);
  if (!known) return (await exists(part)) || !(await exists(partNote));
  const isListed = sha256 === undefined || known.sha256 === undefined || sha256 === known.sha256;
  return isListed && known.sizeBytes === found.size;
}

/** What is known of the file that is here. */
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
  // Anything else could not stand in a header.
  if (token !== undefined && !/^[\x21-\x7e]{1,1000}$/.test(token)) {
    throw new ModelStoreError('bad-reference', 'the token has characters that none has');
  }
  return { endpoint: url, token, idleTimeoutMs };
}
