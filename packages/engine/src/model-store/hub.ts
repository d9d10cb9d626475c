// What is asked of a hub: the files of a repository, and the bytes of one, from anywhere on.
import { z } from 'zod';
import { ModelStoreError } from './error.ts';
import { getFromHub, type Hub, type HubResponse } from './hub-request.ts';
import { formatReference, isModelPath, type Repository } from './reference.ts';
import type { HubFile } from './select-files.ts';

/** Bytes that are here already, and what they are of. */
export interface Held {
  readonly bytes: number;
  readonly etag?: string | undefined;
  readonly sha256?: string | undefined;
}

export interface OpenOptions {
  readonly repository: Repository;
  readonly file: string;
  readonly held?: Held | undefined;
  /** SHA-256 of a file that is here: it is not sent when the hub still says the same. */
  readonly unlessSha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FileAnswer extends AsyncDisposable {
  /** `beyond`: there is nothing after what is held. `same`: the file is what `unlessSha256` says. */
  readonly kind: 'whole' | 'rest' | 'beyond' | 'same';
  /** Of a `rest`: where it begins. */
  readonly fromBytes: number;
  /** Of the whole file, as the hub says. */
  readonly toldBytes: number | undefined;
  /** Of the whole file, as the server that sends it says. */
  readonly sentBytes: number | undefined;
  /** What the hub says of the file, whoever sends it. */
  readonly sha256: string | undefined;
  /** Strong; of the server that sends the bytes. */
  readonly etag: string | undefined;
  readonly contentType: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Of what a server says of itself, in messages. */
const MAX_SHOWN = 60;
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** The hub tells a thousand files on each page. */
const MAX_LISTING_PAGES = 50;
/** For all pages; a server that trickles is not listened to for hours. */
const MAX_LISTING_MS = 120_000;

const Entry = z.object({
  type: z.string(),
  path: z.string(),
  size: z.int().nonnegative().optional(),
  lfs: z.object({ oid: z.string(), size: z.int().nonnegative().optional() }).optional(),
});

/** Address of a file; what it leads to may be elsewhere, and signed. */
export function fileAddress({ endpoint }: Hub, { owner, name, revision }: Repository, file: string): URL {
  const inside = file.split('/').map(encodeURIComponent).join('/');
  return new URL(`${base(endpoint)}/${owner}/${name}/resolve/${encodeURIComponent(revision)}/${inside}`);
}

/** The GGUF files of a repository whose paths are plain. Rejects as getFromHub does. */
export async function listFiles(hub: Hub, repository: Repository, signal?: AbortSignal): Promise<readonly HubFile[]> {
  const { owner, name, revision } = repository;
  const what = formatReference(repository);
  const files: HubFile[] = [];
  const reading: Reading = { what, endsAt: performance.now() + MAX_LISTING_MS, room: MAX_LISTING_BYTES };
  let url: URL | undefined = new URL(
    `${base(hub.endpoint)}/api/models/${owner}/${name}/tree/${encodeURIComponent(revision)}?recursive=true`,
  );
  for (let pages = 0; url; pages++) {
    if (pages === MAX_LISTING_PAGES) throw strangeListing(what, 'goes on and on');
    await using answer = await getFromHub(hub, { url, headers: () => ({ accept: 'application/json' }), what, signal });
    const text = await readText(answer, reading);
    files.push(...parseListing(text, what));
    url = nextPage(url, answer.headers.get('link'), what);
  }
  return files;
}

/** Asks for a file, or for the rest of one. Rejects as getFromHub does. */
export async function openFile(hub: Hub, options: OpenOptions): Promise<FileAnswer> {
  const { repository, file, held, unlessSha256, signal } = options;
  let told: Told = { sha256: undefined, sizeBytes: undefined };
  const answer = await getFromHub(hub, {
    url: fileAddress(hub, repository, file),
    headers: () => rangeHeaders(held, told.sha256),
    onHubHeaders: (headers) => {
      told = {
        sha256: told.sha256 ?? sha256Of(headers.get('x-linked-etag')),
        sizeBytes: told.sizeBytes ?? count(headers.get('x-linked-size')),
      };
      return unlessSha256 !== undefined && told.sha256 === unlessSha256;
    },
    what: formatReference(repository, file),
    signal,
  });
  const packing = answer.headers.get('content-encoding') ?? 'identity';
  if (packing !== 'identity') {
    await answer[Symbol.asyncDispose]();
    throw new ModelStoreError(
      'network',
      `${formatReference(repository, file)} comes packed (${packing.slice(0, MAX_SHOWN)}), which was not asked for`,
    );
  }
  const isSame = unlessSha256 !== undefined && told.sha256 === unlessSha256;
  return describe(answer, { told, isSame });
}

/**
 * RFC 9110 §13.1.5. Where the hub itself says that the file is still the same, its word is enough: copies of one file carry
 * different tags on different servers, and asking by tag would begin anew for nothing. Where it says another, all is wanted.
 */
function rangeHeaders(held: Held | undefined, toldSha256: string | undefined): Record<string, string> {
  if (!held || held.bytes === 0) return {};
  const range = { range: `bytes=${held.bytes}-` };
  if (toldSha256 !== undefined && held.sha256 !== undefined) return toldSha256 === held.sha256 ? range : {};
  if (held.etag !== undefined) return { ...range, 'if-range': held.etag };
  // By its SHA-256 the whole is judged at the end, whoever sent the rest of it.
  return held.sha256 === undefined ? {} : range;
}

/** Of the file, in the hub's own words; the first to speak is believed. */
interface Told {
  readonly sha256: string | undefined;
  readonly sizeBytes: number | undefined;
}

function describe(
  answer: HubResponse,
  { told, isSame }: { readonly told: Told; readonly isSame: boolean },
): FileAnswer {
  const { headers, statusCode } = answer;
  const range = /^bytes (?:(?<from>\d{1,15})-\d{1,15}|\*)\/(?<size>\d{1,15}|\*)$/.exec(
    headers.get('content-range') ?? '',
  )?.groups;
  const kind = isSame ? 'same' : statusCode === 416 ? 'beyond' : statusCode === 206 ? 'rest' : 'whole';
  const etag = headers.get('etag') ?? undefined;
  return {
    kind,
    fromBytes: Number(range?.from ?? 0),
    toldBytes: told.sizeBytes,
    sentBytes: count(kind === 'whole' ? headers.get('content-length') : (range?.size ?? null)),
    sha256: told.sha256,
    etag: etag?.startsWith('"') ? etag : undefined,
    contentType: headers.get('content-type')?.slice(0, MAX_SHOWN) ?? 'an unknown kind',
    chunks: () => answer.chunks(),
    [Symbol.asyncDispose]: () => answer[Symbol.asyncDispose](),
  };
}

function parseListing(text: string, what: string): readonly HubFile[] {
  const entries = z.array(Entry).safeParse(parseJson(text));
  if (!entries.success) throw strangeListing(what, 'cannot be understood');
  return entries.data
    .filter(({ type, path }) => type === 'file' && isModelPath(path))
    .map(({ path, size, lfs }) => ({ path, sizeBytes: lfs?.size ?? size, sha256: sha256Of(lfs?.oid ?? null) }));
}

interface Reading {
  readonly what: string;
  readonly endsAt: number;
  /** Bytes that may still come. */
  room: number;
}

async function readText(answer: HubResponse, reading: Reading): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.chunks()) {
    reading.room -= chunk.length;
    if (reading.room < 0) throw strangeListing(reading.what, `is larger than ${MAX_LISTING_BYTES} bytes`);
    if (performance.now() > reading.endsAt) throw strangeListing(reading.what, 'comes too slowly');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** RFC 8288: the address marked `rel="next"`. */
function nextPage(page: URL, link: string | null, what: string): URL | undefined {
  const address = /<([^<>]*)>\s*;\s*rel="?next\b/.exec(link ?? '')?.[1];
  if (address === undefined) return undefined;
  const next = URL.parse(address, page);
  if (next?.origin !== page.origin) throw strangeListing(what, 'goes on elsewhere');
  return next;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function strangeListing(what: string, how: string): ModelStoreError {
  return new ModelStoreError('network', `the list of the files of ${what} ${how}`);
}

/** A quoted or bare SHA-256; other tags are no hashes of the file. */
function sha256Of(tag: string | null): string | undefined {
  return /^(?:W\/)?"?(?:sha256:)?([0-9a-f]{64})"?$/.exec(tag ?? '')?.[1];
}

function count(digits: string | null): number | undefined {
  return digits !== null && /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

function base(endpoint: URL): string {
  return endpoint.href.replace(/\/+$/, '');
}
