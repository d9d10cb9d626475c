// Downloads a document over HTTP into a file: resumed with Range and If-Range (RFC 9110 §13.1.5, §14), bounded in size, verified by its
// SHA-256 where that is known, and renamed when complete. The caller sends the requests: with its own connections, credentials,
// timeouts, redirect rules and address guard; and it retries with a backoff.
import { hashFile } from './hash-file.ts';
import { type DocumentNote, PartFile } from './part-file.ts';

/** Facts of a complete document. */
export interface DocumentFacts {
  readonly sizeBytes?: number | undefined;
  /** Hex. */
  readonly sha256?: string | undefined;
}

/** The answer to one GET, after its redirects, not decompressed. */
export interface DownloadAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Published by the origin, whichever server sends the bytes. */
  readonly published?: DocumentFacts;
  /** Rejects if the connection breaks or the caller's signal aborts. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Range headers of the request. If the origin confirms the SHA-256 of the received bytes' document, there is no If-Range: copies of one
 * file have different tags on different servers. If it publishes another SHA-256, the complete document is requested.
 */
export type RangeHeaders = (publishedSha256?: string) => Readonly<Record<string, string>>;

interface DownloadOptions<Other> {
  /** The address, without credentials: it identifies the document in the note. */
  readonly source: string;
  /** Sends one GET, and returns what `read` resolves to for its answer, or another outcome without an answer. */
  readonly request: (
    range: RangeHeaders,
    read: (answer: DownloadAnswer) => Promise<Downloaded | undefined>,
  ) => Promise<Downloaded | Other | undefined>;
  /** A document with other facts is refused. */
  readonly expected?: DocumentFacts;
  readonly maxBytes?: number;
  /** Passes on the chunks of a document from its first byte, or throws before the first one that it would pass on. */
  readonly check?: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** Keeps the note of the complete file here, with its size and SHA-256. */
  readonly notePath?: string;
  readonly onProgress?: ((progress: DownloadedBytes) => void) | undefined;
  /** Aborts the verification; `request` has its own. */
  readonly signal?: AbortSignal | undefined;
}

export interface DownloadedBytes {
  /** Including bytes received before this connection. */
  readonly receivedBytes: number;
  /** Undefined if no server announced it. */
  readonly totalBytes: number | undefined;
}

type Downloaded =
  /** The file is complete, verified and durable. */
  | { readonly kind: 'complete'; readonly sizeBytes: number }
  /** The answer has no document; nothing was written. */
  | { readonly kind: 'answered'; readonly status: number }
  /** The connection broke, or the document ended early: the received bytes are kept, and the next download resumes. */
  | { readonly kind: 'cut'; readonly detail: string; readonly cause?: unknown }
  /** Too large, or not the expected document. Received bytes that are part of it are removed. */
  | { readonly kind: 'refused'; readonly detail: string };

interface Transfer {
  readonly part: PartFile;
  /** Undefined for a request from the first byte. */
  readonly held: Held | undefined;
  readonly options: DownloadOptions<unknown>;
}

/** The received bytes that are kept, and their document. */
interface Held extends DocumentNote {
  readonly fromByte: number;
}

const MAX_VALIDATOR_LENGTH = 1_024;
const MAX_SHOWN = 60;

/** The caller holds a lock of the file. Rejects with DiskError, and with an error of `request` or `check`. */
export async function downloadFile<Other = never>(
  file: string,
  options: DownloadOptions<Other>,
): Promise<Downloaded | Other> {
  await using part = await PartFile.open(file);
  let held = heldOf(part, options.source);
  // Interrupted between the last byte and the verification.
  if (held?.sha256 !== undefined && part.sizeBytes === held.sizeBytes) return await finish(part, options);
  for (;;) {
    const transfer = { part, held, options };
    const outcome = await options.request(
      (sha256) => rangeHeaders(transfer.held, sha256),
      (answer) => receive(answer, transfer),
    );
    if (outcome !== undefined) return outcome;
    held = undefined;
  }
}

/** Undefined if the received bytes cannot be resumed: they remain until another document begins. */
function heldOf({ note, sizeBytes }: PartFile, source: string): Held | undefined {
  if (note?.source !== source || sizeBytes > (note.sizeBytes ?? Infinity)) return undefined;
  // Of a complete part the last byte is requested again, to verify that the document is unchanged.
  const fromByte = sizeBytes === note.sizeBytes ? sizeBytes - 1 : sizeBytes;
  return fromByte > 0 && (validatorOf(note) ?? note.sha256) !== undefined ? { ...note, fromByte } : undefined;
}

function rangeHeaders(held: Held | undefined, sha256: string | undefined): Readonly<Record<string, string>> {
  if (!held) return {};
  const range = { range: `bytes=${held.fromByte}-` };
  if (sha256 !== undefined && held.sha256 !== undefined) return sha256 === held.sha256 ? range : {};
  const validator = validatorOf(held);
  // Without a validator, the SHA-256 verifies the complete file at the end, whichever server sent the remainder.
  return validator === undefined ? range : { ...range, 'if-range': validator };
}

/** A strong entity tag, or else a date (RFC 9110 §13.1.5). */
function validatorOf({ etag, lastModified }: DocumentNote): string | undefined {
  return etag !== undefined && /^"[^"]*"$/.test(etag) ? etag : lastModified;
}

/** Undefined: the received bytes are of another version, and the document is requested from its first byte. */
async function receive(answer: DownloadAnswer, transfer: Transfer): Promise<Downloaded | undefined> {
  const { part, options } = transfer;
  const { status } = answer;
  const held = status === 206 || status === 416 ? transfer.held : undefined;
  if (status !== 200 && !held) return { kind: 'answered', status };
  const range = rangeOf(answer);
  const facts = factsOf(answer, range, options.expected);
  if ('problem' in facts) return refused(facts.problem);
  if (held && !isContinued(answer, held, { ...facts, range })) return undefined;
  const { maxBytes = Infinity } = options;
  if ((facts.sizeBytes ?? 0) > maxBytes) {
    await part.discard();
    return refused(`has ${facts.sizeBytes} bytes, more than the ${maxBytes} allowed`);
  }
  const { etag, 'last-modified': lastModified } = answer.headers;
  const offered = { source: options.source, ...facts, etag: bounded(etag), lastModified: bounded(lastModified) };
  // What was recorded takes precedence; the answer only adds missing facts.
  const note = held ? { ...offered, ...part.note } : offered;
  if (held) {
    await part.truncate(held.fromByte);
    await part.remember(note);
  }
  const problem = status === 416 ? undefined : await store(answer, { part, held, options, note });
  return problem ?? finish(part, options);
}

/** What is expected, what the origin publishes, and what the server offers; a problem where they contradict each other. */
function factsOf(
  { status, headers, published = {} }: DownloadAnswer,
  range: ContentRange | undefined,
  expected: DocumentFacts = {},
): DocumentFacts | { readonly problem: string } {
  const offeredBytes = status === 200 ? countOf(headers['content-length']) : range?.totalBytes;
  const sizes = [expected.sizeBytes, published.sizeBytes, offeredBytes].filter((size) => size !== undefined);
  if (sizes.some((size) => size !== sizes[0])) {
    const type = headers['content-type']?.slice(0, MAX_SHOWN) ?? 'an unknown content type';
    return { problem: `should have ${sizes[0]} bytes, but the server offers ${sizes.at(-1)} bytes of ${type}` };
  }
  return { sizeBytes: sizes[0], sha256: expected.sha256 ?? published.sha256 };
}

/** Whether a 206 continues the received bytes, or a 416 shows that they are complete. A server may ignore `If-Range`. */
function isContinued(
  { status, headers }: DownloadAnswer,
  held: Held,
  { sizeBytes, sha256, range }: DocumentFacts & { readonly range: ContentRange | undefined },
): boolean {
  const isNext = status === 416 ? range?.totalBytes === held.fromByte : range?.fromByte === held.fromByte;
  if (!isNext) return false;
  if (sizeBytes !== undefined && held.sizeBytes !== undefined && sizeBytes !== held.sizeBytes) return false;
  if (sha256 !== undefined && held.sha256 !== undefined) return sha256 === held.sha256;
  const validator = validatorOf(held);
  const now = validator === held.etag ? headers.etag : headers['last-modified'];
  return validator === undefined || now === undefined || now === validator;
}

/** Appends the body. Resolves to the problem if the document is not complete. */
async function store(
  answer: DownloadAnswer,
  { part, held, note, options }: Transfer & { readonly note: DocumentNote },
): Promise<Downloaded | undefined> {
  const { maxBytes = Infinity, check = (chunks) => chunks, onProgress } = options;
  const { sizeBytes: totalBytes } = note;
  const bound = Math.min(maxBytes, totalBytes ?? Infinity);
  const chunks = untilCut(answer.chunks);
  let isBegun = held !== undefined;
  const begin = async () => {
    await part.begin(note);
    await part.checkFreeSpace();
    isBegun = true;
  };
  try {
    if (isBegun) await part.checkFreeSpace();
    for await (const chunk of isBegun ? chunks : check(chunks)) {
      // Only after the first valid chunk: an error page does not cost the bytes received before.
      if (!isBegun) await begin();
      if (part.sizeBytes + chunk.length > bound) {
        await part.discard();
        return refused(`is longer than the ${totalBytes === undefined ? 'allowed' : 'announced'} ${bound} bytes`);
      }
      await part.append(chunk);
      onProgress?.({ receivedBytes: part.sizeBytes, totalBytes });
    }
    if (!isBegun && !totalBytes) await begin();
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
    return { kind: 'cut', detail: `cut off after ${isBegun ? part.sizeBytes : 0} bytes`, cause: error.cause };
  }
  const receivedBytes = isBegun ? part.sizeBytes : 0;
  if (receivedBytes >= (totalBytes ?? 0)) return undefined;
  return { kind: 'cut', detail: `cut off after ${receivedBytes} of ${totalBytes} bytes` };
}

/** Verifies the bytes on the disk, not the received ones. */
async function finish(part: PartFile, { notePath, signal }: DownloadOptions<unknown>): Promise<Downloaded> {
  const { note, sizeBytes } = part;
  const sha256 = note?.sha256 === undefined && notePath === undefined ? undefined : await hashFile(part.path, signal);
  if (note?.sha256 !== undefined && sha256 !== note.sha256) {
    await part.discard();
    return refused(`has SHA-256 ${sha256}, but ${note.sha256} was announced`);
  }
  if (note && notePath !== undefined) await part.remember({ ...note, sizeBytes, sha256 });
  await part.complete(notePath);
  return { kind: 'complete', sizeBytes };
}

/** The connection broke. */
class Cut extends Error {}

async function* untilCut(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throw new Cut('the connection broke', { cause });
  }
}

interface ContentRange {
  /** Undefined in an answer without bytes. */
  readonly fromByte: number | undefined;
  readonly totalBytes: number | undefined;
}

/** RFC 9110 §14.4: `bytes 100-199/1000`, with `*` for what is unknown. */
function rangeOf({ headers }: DownloadAnswer): ContentRange | undefined {
  const match = /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(?:(\d{1,15})|\*)$/.exec(headers['content-range'] ?? '');
  return match ? { fromByte: countOf(match[1]), totalBytes: countOf(match[2]) } : undefined;
}

function countOf(digits: string | undefined): number | undefined {
  return digits !== undefined && /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

/** A validator that is too long is not recorded, and neither is a weak tag. */
function bounded(validator: string | undefined): string | undefined {
  const isRecorded = validator !== undefined && validator.length <= MAX_VALIDATOR_LENGTH && !validator.startsWith('W/');
  return isRecorded ? validator : undefined;
}

const refused = (detail: string): Downloaded => ({ kind: 'refused', detail });
