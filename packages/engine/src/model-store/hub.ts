// Requests to a hub: the files of a repository, and the bytes of a file from any offset.
import { z } from 'zod';
import { ModelStoreError } from './error.ts';
import { getFromHub, type Hub, type HubResponse } from './hub-request.ts';
import { formatReference, isModelPath, type Repository } from './reference.ts';
import type { HubFile } from './select-files.ts';

/** The received bytes, and the file they belong to. */
interface Held {
  readonly bytes: number;
  readonly etag?: string | undefined;
  readonly sha256?: string | undefined;
}

interface OpenOptions {
  readonly repository: Repository;
  readonly file: string;
  readonly held?: Held | undefined;
  /** SHA-256 of the stored file: the file is not sent if the hub still has this version. */
  readonly unlessSha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FileAnswer extends AsyncDisposable {
  /** `range-end`: there is nothing after the held bytes. `unchanged`: the file has `unlessSha256`. */
  readonly kind: 'full' | 'remainder' | 'range-end' | 'unchanged';
  /** Offset of a `remainder`. */
  readonly fromBytes: number;
  /** Size of the complete file, from the hub. */
  readonly hubSizeBytes: number | undefined;
  /** Size of the complete file, from the server that sends it. */
  readonly serverSizeBytes: number | undefined;
  /** From the hub, whichever server sends the file. */
  readonly sha256: string | undefined;
  /** Strong; from the server that sends the bytes. */
  readonly etag: string | undefined;
  readonly contentType: string;
  chunks(): AsyncIterable<Uint8Array>;
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
    url = nextPage(url, answer.headers.get('link'), what);
  }
  return files;
}

/** Requests a file, or the remainder of one. Rejects as getFromHub does. */
export async function openFile(hub: Hub, options: OpenOptions): Promise<FileAnswer> {
  const { repository, file, held, unlessSha256, signal } = options;
  let hubFacts: HubFacts = { sha256: undefined, sizeBytes: undefined };
  const answer = await getFromHub(hub, {
    url: fileAddress(hub, repository, file),
    headers: () => rangeHeaders(held, hubFacts.sha256),
    onHubHeaders: (headers) => {
      hubFacts = {
        sha256: hubFacts.sha256 ?? sha256Of(headers.get('x-linked-etag')),
        sizeBytes: hubFacts.sizeBytes ?? count(headers.get('x-linked-size')),
      };
      return unlessSha256 !== undefined && hubFacts.sha256 === unlessSha256;
    },
    what: formatReference(repository, file),
    signal,
  });
  const encoding = answer.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    await answer[Symbol.asyncDispose]();
    throw new ModelStoreError(
      'network',
      `${formatReference(repository, file)} was sent with content encoding ${encoding.slice(0, MAX_SHOWN)}, which was not requested`,
    );
  }
  const isSame = unlessSha256 !== undefined && hubFacts.sha256 === unlessSha256;
  return describe(answer, { hubFacts, isSame });
}

/**
 * RFC 9110 §13.1.5. If the hub confirms the SHA-256, no If-Range is sent: copies of one file have different tags on
 * different servers, and a tag mismatch would restart the download. If the hub reports another hash, all bytes are
 * requested.
 */
function rangeHeaders(held: Held | undefined, hubSha256: string | undefined): Record<string, string> {
  if (!held || held.bytes === 0) return {};
  const range = { range: `bytes=${held.bytes}-` };
  if (hubSha256 !== undefined && held.sha256 !== undefined) return hubSha256 === held.sha256 ? range : {};
  if (held.etag !== undefined) return { ...range, 'if-range': held.etag };
  // The SHA-256 verifies the complete file at the end, whichever server sent the remainder.
  return held.sha256 === undefined ? {} : range;
}

/** Facts of the file from the hub's own headers; the first value is kept. */
interface HubFacts {
  readonly sha256: string | undefined;
  readonly sizeBytes: number | undefined;
}

function describe(
  answer: HubResponse,
  { hubFacts, isSame }: { readonly hubFacts: HubFacts; readonly isSame: boolean },
): FileAnswer {
  const { headers, statusCode } = answer;
  const range = /^bytes (?:(?<from>\d{1,15})-\d{1,15}|\*)\/(?<size>\d{1,15}|\*)$/.exec(
    headers.get('content-range') ?? '',
  )?.groups;
  const kind = isSame ? 'unchanged' : statusCode === 416 ? 'range-end' : statusCode === 206 ? 'remainder' : 'full';
  const etag = headers.get('etag') ?? undefined;
  return {
    kind,
    fromBytes: Number(range?.from ?? 0),
    hubSizeBytes: hubFacts.sizeBytes,
    serverSizeBytes: count(kind === 'full' ? headers.get('content-length') : (range?.size ?? null)),
    sha256: hubFacts.sha256,
    etag: etag?.startsWith('"') ? etag : undefined,
    contentType: headers.get('content-type')?.slice(0, MAX_SHOWN) ?? 'an unknown content type',
    chunks: () => answer.chunks(),
    [Symbol.asyncDispose]: () => answer[Symbol.asyncDispose](),
  };
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
  for await (const chunk of answer.chunks()) {
    reading.remainingBytes -= chunk.length;
    if (reading.remainingBytes < 0) throw invalidListing(reading.what, `is larger than ${MAX_LISTING_BYTES} bytes`);
    if (performance.now() > reading.endsAt) throw invalidListing(reading.what, 'is sent too slowly');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** RFC 8288: the address marked `rel="next"`. */
function nextPage(page: URL, link: string | null, what: string): URL | undefined {
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
