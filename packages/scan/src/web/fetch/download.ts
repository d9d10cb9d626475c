// Downloads a document into a file: streamed into a partial file, resumed after an interruption, and renamed when complete.
import type { IncomingMessage } from 'node:http';
import { PartFile } from '@strata/files';
import type { Deadline } from '../deadline.ts';
import { withoutSecrets } from '../redirect.ts';
import { boundedValidator, type PartNote, type ResumablePart, readPartNote, resumable } from './part-note.ts';
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
  /** As requested and recorded: without credentials. */
  readonly href: string;
  readonly part: PartFile<PartNote>;
  readonly work: DownloadWork;
}

/** Rejects only for errors of the file system. */
export async function download(deps: WalkDeps, url: string, file: string, work: DownloadWork): Promise<Downloaded> {
  const href = URL.canParse(url) ? withoutSecrets(new URL(url)).href : url;
  await using part = await PartFile.open(file, { readNote: readPartNote });
  let from = resumable(part, href);
  for (;;) {
    const { deadline, maxRedirects } = work;
    const range = from ? { range: `bytes=${from.doneBytes}-`, 'if-range': from.validator } : {};
    const walkRequest = { headers: { ...work.headers, ...range }, acceptEncoding: 'identity', maxRedirects, deadline };
    const outcome = await walk<Downloaded | Restart>(deps, href, walkRequest, (answer) =>
      receive(answer, from, { href, part, work }),
    );
    if (outcome.kind !== 'restart') return outcome;
    from = undefined;
  }
}

async function receive(
  answer: WebAnswer,
  from: ResumablePart | undefined,
  { href, part, work }: Receiving,
): Promise<Downloaded | Restart> {
  const { status, headers } = answer;
  if (from && (status === 416 || (status === 206 && !continuesPart(headers, from)))) return { kind: 'restart' };
  if (status !== 200 && (status !== 206 || !from)) return { kind: 'answered', status, headers };
  const isContinued = status === 206 && from !== undefined;
  const totalBytes = isContinued
    ? (readContentRange(headers)?.totalBytes ?? from.totalBytes ?? undefined)
    : lengthOf(headers);
  if ((totalBytes ?? 0) > work.maxBytes) {
    await part.discard();
    return failed(answer, `${totalBytes} bytes are more than the ${work.maxBytes} allowed`);
  }
  if (isContinued) await part.truncate(from.doneBytes);
  else {
    const validators = {
      etag: boundedValidator(headers.etag),
      lastModified: boundedValidator(headers['last-modified']),
    };
    await part.begin({ url: href, ...validators, totalBytes: totalBytes ?? null });
  }
  const problem = await store(answer, { part, totalBytes, work });
  if (problem) return problem;
  await part.complete();
  return { kind: 'downloaded', sizeBytes: part.sizeBytes, headers, url: answer.url };
}

/** Writes the body; the received bytes are kept for the next download, unless there are too many. */
async function store(
  answer: WebAnswer,
  { part, totalBytes, work }: Pick<Receiving, 'part' | 'work'> & { readonly totalBytes: number | undefined },
): Promise<Failed | undefined> {
  const { maxBytes, deadline, onProgress } = work;
  const bound = Math.min(maxBytes, totalBytes ?? Infinity);
  for await (const chunk of untilCut(answer.response)) {
    if (part.sizeBytes + chunk.length > bound) {
      await part.discard();
      return failed(answer, `more than ${bound} bytes arrived`);
    }
    // File system errors are thrown.
    await part.append(chunk);
    onProgress?.(part.sizeBytes, totalBytes);
  }
  if (deadline.signal.aborted) return { ...stopped(deadline), redirects: answer.redirects };
  const isCut = !answer.response.complete || part.sizeBytes < (totalBytes ?? 0);
  return isCut ? failed(answer, `cut off after ${part.sizeBytes} bytes`) : undefined;
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
function continuesPart(headers: WebAnswer['headers'], part: ResumablePart): boolean {
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
