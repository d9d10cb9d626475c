// Requests to a hub: the files of a repository, and the bytes of a file from any offset.
import type { DocumentFacts, DownloadAnswer, RangeHeaders } from '@strata/files';
import { z } from 'zod';
import { ModelStoreError } from './error.ts';
import { getFromHub, type Hub, type HubResponse } from './hub-request.ts';
import { formatReference, isModelPath, type Repository } from './reference.ts';
import type { HubFile } from './select-files.ts';

interface OpenOptions {
  readonly repository: Repository;
  readonly file: string;
  readonly range: RangeHeaders;
  readonly signal?: AbortSignal | undefined;
}

/** Length of server-supplied text in messages. */
const MAX_SHOWN = 60;
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** The hub lists a thousand files per page. */
const MAX_LISTING_PAGES = 50;
/** For all pages; bounds a server that sends slowly. */
const MAX_LISTING_MS = 120_000;

const Entry = z.object({
  type: z.string(),
  path: z.string(),
  size: z.int().nonnegative().optional(),
  lfs: z.object({ oid: z.string(), size: z.int().nonnegative().optional() }).optional(),
});

/** Address of a file; it may redirect to a signed address on another server. */
export function fileAddress({ endpoint }: Hub, { owner, name, revision }: Repository, file: string): URL {
  const inside = file.split('/').map(encodeURIComponent).join('/');
  return new URL(`${base(endpoint)}/${owner}/${name}/resolve/${encodeURIComponent(revision)}/${inside}`);
}

/** The GGUF files of a repository that have safe paths. Rejects as getFromHub does. */
export async function listFiles(hub: Hub, repository: Repository, signal?: AbortSignal): Promise<readonly HubFile[]> {
  const { owner, name, revision } = repository;
  const what = formatReference(repository);
  const files: HubFile[] = [];
  const reading: Reading = { what, endsAt: performance.now() + MAX_LISTING_MS, remainingBytes: MAX_LISTING_BYTES };
  let url: URL | undefined = new URL(
    `${base(hub.endpoint)}/api/models/${owner}/${name}/tree/${encodeURIComponent(revision)}?recursive=true`,
  );
  for (let pages = 0; url; pages++) {
    if (pages === MAX_LISTING_PAGES) throw invalidListing(what, 'has too many pages');
    await using answer = await getFromHub(hub, { url, headers: () => ({ accept: 'application/json' }), what, signal });
    const text = await readText(answer, reading);
    files.push(...parseListing(text, what));
    url = nextPage(url, answer.headers.link, what);
  }
  return files;
}

/** Requests a file, or the remainder of one. Rejects as getFromHub does. */
export async function openFile(
  hub: Hub,
  { repository, file, range, signal }: OpenOptions,
): Promise<DownloadAnswer & AsyncDisposable & { readonly published: DocumentFacts }> {
  const what = formatReference(repository, file);
  // From the hub's own headers; the first value is kept.
  let published: DocumentFacts = {};
  const answer = await getFromHub(hub, {
    url: fileAddress(hub, repository, file),
    headers: () => range(published.sha256),
    onHubHeaders: (headers) => {
      published = {
        sha256: published.sha256 ?? sha256Of(headers.get('x-linked-etag')),
        sizeBytes: published.sizeBytes ?? count(headers.get('x-linked-size')),
      };
    },
    what,
    signal,
  });
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return { ...answer, published };
  await answer[Symbol.asyncDispose]();
  const message = `${what} was sent with content encoding ${encoding.slice(0, MAX_SHOWN)}, which was not requested`;
  throw new ModelStoreError('network', message);
}

function parseListing(text: string, what: string): readonly HubFile[] {
  const entries = z.array(Entry).safeParse(parseJson(text));
  if (!entries.success) throw invalidListing(what, 'is not valid');
  return entries.data
    .filter(({ type, path }) => type === 'file' && isModelPath(path))
    .map(({ path, size, lfs }) => ({ path, sizeBytes: lfs?.size ?? size, sha256: sha256Of(lfs?.oid ?? null) }));
}

interface Reading {
  readonly what: string;
  readonly endsAt: number;
  /** Bytes that may still be received. */
  remainingBytes: number;
}

async function readText(answer: HubResponse, reading: Reading): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.chunks) {
    reading.remainingBytes -= chunk.length;
    if (reading.remainingBytes < 0) throw invalidListing(reading.what, `is larger than ${MAX_LISTING_BYTES} bytes`);
    if (performance.now() > reading.endsAt) throw invalidListing(reading.what, 'is sent too slowly');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** RFC 8288: the address marked `rel="next"`. */
function nextPage(page: URL, link: string | undefined, what: string): URL | undefined {
  const address = /<([^<>]*)>\s*;\s*rel="?next\b/.exec(link ?? '')?.[1];
  if (address === undefined) return undefined;
  const next = URL.parse(address, page);
  if (next?.origin !== page.origin) throw invalidListing(what, 'continues on another server');
  return next;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalidListing(what: string, how: string): ModelStoreError {
  return new ModelStoreError('network', `the file list of ${what} ${how}`);
}

/** A quoted or bare SHA-256; other tags are not hashes of the file. */
function sha256Of(tag: string | null): string | undefined {
  return /^(?:W\/)?"?(?:sha256:)?([0-9a-f]{64})"?$/.exec(tag ?? '')?.[1];
}

function count(digits: string | null): number | undefined {
  return digits !== null && /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

function base(endpoint: URL): string {
  return endpoint.href.replace(/\/+$/, '');
}
