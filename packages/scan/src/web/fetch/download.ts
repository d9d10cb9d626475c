// Downloads a document into a file: streamed into a partial file, resumed after an interruption, and renamed when complete.
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Deadline } from '../deadline.ts';
import { withoutSecrets } from '../redirect.ts';
import { beginPart, continuePart, discardPart, findPart, finishPart, type Part } from './part-file.ts';
import {
  type Failed,
  type Fetched,
  type FetchRequest,
  stopped,
  type WalkDeps,
  type WebAnswer,
  walk,
} from './web-walk.ts';

export interface DownloadRequest extends Omit<FetchRequest, 'maxBytes' | 'method' | 'body'> {
  /** As sent, not decompressed; more is a failure. */
  readonly maxBytes: number;
  /** Called as bytes arrive, with the bytes received so far and the total if known. */
  readonly onProgress?: (doneBytes: number, totalBytes: number | undefined) => void;
}

/** `file` holds the complete document, as sent. */
export type Downloaded =
  | {
      readonly kind: 'downloaded';
      readonly sizeBytes: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly url: string;
    }
  | { readonly kind: 'answered'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | Extract<Fetched, { kind: 'failed' }>;

export interface DownloadWork extends DownloadRequest {
  readonly deadline: Deadline;
}

/** The partial file may belong to another version of the document. */
type Restart = { readonly kind: 'restart' };

interface Receiving {
  readonly handle: FileHandle;
  readonly doneBytes: number;
  readonly totalBytes: number | undefined;
}

/** Rejects only for errors of the file system. */
export async function download(deps: WalkDeps, url: string, file: string, work: DownloadWork): Promise<Downloaded> {
  // The URL as requested and recorded: without credentials.
  const href = URL.canParse(url) ? withoutSecrets(new URL(url)).href : url;
  let part = await findPart(file, href);
  for (;;) {
    const { deadline, maxRedirects } = work;
    const range = part ? { range: `bytes=${part.doneBytes}-`, 'if-range': part.validator } : {};
    const walkRequest = { headers: { ...work.headers, ...range }, acceptEncoding: 'identity', maxRedirects, deadline };
    const outcome = await walk<Downloaded | Restart>(deps, href, walkRequest, (answer) =>
      receive(answer, part, { href, file, work }),
    );
    if (outcome.kind !== 'restart') return outcome;
    part = undefined;
  }
}

async function receive(
  answer: WebAnswer,
  part: Part | undefined,
  { href, file, work }: { readonly href: string; readonly file: string; readonly work: DownloadWork },
): Promise<Downloaded | Restart> {
  const { status, headers } = answer;
  if (part && (status === 416 || (status === 206 && !continuesPart(headers, part)))) return { kind: 'restart' };
  if (status !== 200 && (status !== 206 || !part)) return { kind: 'answered', status, headers };
  const isContinued = status === 206 && part !== undefined;
  const totalBytes = isContinued
    ? (readContentRange(headers)?.totalBytes ?? part.totalBytes ?? undefined)
    : lengthOf(headers);
  if ((totalBytes ?? 0) > work.maxBytes) {
    await discardPart(file);
    return failed(answer, `${totalBytes} bytes are more than the ${work.maxBytes} allowed`);
  }
  const doneBytes = isContinued ? part.doneBytes : 0;
  const { etag = null, 'last-modified': lastModified = null } = headers;
  const handle = isContinued
    ? await continuePart(file, doneBytes)
    : await beginPart(file, { url: href, etag, lastModified, totalBytes: totalBytes ?? null });
  try {
    const sizeBytes = await store(answer, { handle, doneBytes, totalBytes }, work);
    if (typeof sizeBytes !== 'number') return sizeBytes;
    if (sizeBytes <= Math.min(work.maxBytes, totalBytes ?? Infinity)) {
      await handle.sync();
      await handle.close();
      await finishPart(file);
      return { kind: 'downloaded', sizeBytes, headers, url: answer.url };
    }
  } finally {
    await handle.close();
  }
  await discardPart(file);
  return failed(answer, `more than ${Math.min(work.maxBytes, totalBytes ?? Infinity)} bytes arrived`);
}

/** Writes the body; returns the size of the partial file, which exceeds the bound if more arrived. */
async function store(
  answer: WebAnswer,
  { handle, doneBytes, totalBytes }: Receiving,
  { maxBytes, deadline, onProgress }: DownloadWork,
): Promise<number | Failed> {
  const bound = Math.min(maxBytes, totalBytes ?? Infinity);
  let size = doneBytes;
  for await (const chunk of untilCut(answer.response)) {
    size += chunk.length;
    if (size > bound) return size;
    // File system errors are thrown.
    await handle.writeFile(chunk);
    onProgress?.(size, totalBytes);
  }
  if (deadline.signal.aborted) return { ...stopped(deadline), redirects: answer.redirects };
  if (!answer.response.complete || size < (totalBytes ?? 0)) return failed(answer, `cut off after ${size} bytes`);
  return size;
}

/** The chunks of a body; ends if the connection breaks, in which case the response is not `complete`. */
async function* untilCut(response: IncomingMessage): AsyncGenerator<Buffer> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (;;) {
    let next: IteratorResult<Buffer>;
    try {
      next = await chunks.next();
    } catch {
      return;
    }
    if (next.done) return;
    yield next.value;
  }
}

/** Whether a 206 continues the partial file. A server may respect `Range` and ignore `If-Range`. */
function continuesPart(headers: WebAnswer['headers'], part: Part): boolean {
  const range = readContentRange(headers);
  if (range?.startByte !== part.doneBytes) return false;
  const { totalBytes } = range;
  if (totalBytes !== undefined && part.totalBytes !== null && totalBytes !== part.totalBytes) return false;
  const now = part.validator === part.etag ? headers.etag : headers['last-modified'];
  return now === undefined || now === part.validator;
}

/** RFC 9110 §14.4: `bytes 100-199/1000`, or `/*` if the total is unknown. */
function readContentRange(headers: WebAnswer['headers']) {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '');
  if (!match) return undefined;
  return { startByte: Number(match[1]), totalBytes: match[3] === '*' ? undefined : Number(match[3]) };
}

function lengthOf(headers: WebAnswer['headers']): number | undefined {
  const text = headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function failed({ redirects }: WebAnswer, detail: string): Failed {
  return { kind: 'failed', reason: 'failed', detail, redirects };
}
