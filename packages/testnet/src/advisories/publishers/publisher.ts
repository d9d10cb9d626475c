// An advisory publisher's HTTP server on loopback: counts requests, supports conditional and range requests, and fails
// on demand.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { close, listen } from '../../listening.ts';
import type { StoredFile } from './zip.ts';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | StoredFile;
  /** With an ETag of the body, and 304 if it matches; files always have one, and support ranges. */
  readonly isTagged?: boolean;
}

/** A status to answer with; no answer; a premature end; an answer with invalid content. */
export type Failure = { readonly status: number } | { readonly kind: 'hang' | 'cut' | 'garbage' };

interface Publisher extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  readonly requests: number;
  fail(failure: Failure, times: number): void;
}

export type Handler = (url: URL, request: IncomingMessage) => Promise<Reply> | Reply;

export const NOT_FOUND: Reply = { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not Found\n' };

export async function startPublisher(handler: Handler): Promise<Publisher> {
  let requests = 0;
  let failures: { readonly failure: Failure; left: number } | undefined;
  const nextFailure = () => {
    if (!failures || failures.left <= 0) return undefined;
    failures.left -= 1;
    return failures.failure;
  };
  const server = createServer((request, response) => {
    requests += 1;
    response.on('error', () => {});
    answer(handler, { failure: nextFailure(), request, response }).catch((error: Error) => response.destroy(error));
  });
  const port = await listen(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    fail(failure, times) {
      failures = { failure, left: times };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await close(server);
    },
  };
}

interface Exchange {
  readonly failure: Failure | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer(handler: Handler, { failure, request, response }: Exchange): Promise<void> {
  if (failure && 'status' in failure) {
    return void response.writeHead(failure.status, { 'content-type': 'text/plain' }).end('failing on demand\n');
  }
  const kind = failure?.kind;
  if (kind === 'hang') return;
  if (kind === 'garbage') {
    return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('\x00<html>{"a":[[[\xff');
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  }
  const reply = conditional(await handler(new URL(request.url ?? '/', 'http://publisher'), request), request);
  await send(reply, { isCut: kind === 'cut', isHead: request.method === 'HEAD', response });
}

interface Part {
  readonly start: number;
  readonly end: number;
}

/** Applies conditional and range headers. RFC 9110 §13 and §14. */
function conditional(reply: Reply, { headers }: IncomingMessage): Reply & { readonly part?: Part } {
  if (!reply.isTagged || reply.status !== 200 || reply.body === undefined) return reply;
  const etag = tagOf(reply.body);
  const lastModified = reply.headers?.['last-modified'];
  const tagged = { ...reply, headers: { ...reply.headers, etag } };
  const isSame = headers['if-none-match']
    ? headers['if-none-match']
        .split(',')
        .some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*')
    : lastModified !== undefined && Date.parse(headers['if-modified-since'] ?? '') >= Date.parse(lastModified);
  if (isSame) {
    return { status: 304, headers: lastModified ? { etag, 'last-modified': lastModified } : { etag } };
  }
  if (!isFile(reply.body)) return tagged;

  const total = reply.body.sizeBytes;
  const full = { ...tagged, headers: { ...tagged.headers, 'accept-ranges': 'bytes' } };
  const isStale = headers['if-range'] !== undefined && headers['if-range'] !== etag;
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
  if (isStale || (from === '' && to === '')) return full;
  const start = from === '' ? Math.max(0, total - Number(to)) : Number(from);
  const end = from === '' || to === '' ? total - 1 : Math.min(Number(to), total - 1);
  if (start > end) return { status: 416, headers: { 'content-range': `bytes */${total}`, etag } };
  return {
    ...full,
    status: 206,
    headers: { ...full.headers, 'content-range': `bytes ${start}-${end}/${total}` },
    part: { start, end },
  };
}

function tagOf(body: string | Buffer | StoredFile): string {
  if (isFile(body)) return `"0x${body.crc.toString(16).padStart(8, '0')}${body.sizeBytes.toString(16)}"`;
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
}

function isFile(body: string | Buffer | StoredFile): body is StoredFile {
  return typeof body === 'object' && 'path' in body;
}

async function send(
  { status, headers, body = '', part }: Reply & { readonly part?: Part },
  { isCut, isHead, response }: { readonly isCut: boolean; readonly isHead: boolean; readonly response: ServerResponse },
): Promise<void> {
  const contents = isFile(body) ? body : Buffer.from(body);
  const { start, end } = part ?? { start: 0, end: (isFile(contents) ? contents.sizeBytes : contents.length) - 1 };
  const length = end - start + 1;
  response.writeHead(status, status === 304 ? { ...headers } : { ...headers, 'content-length': length });
  if (isHead || status === 304 || length === 0) return void response.end();
  // Half of the announced length, then the connection is closed.
  const last = isCut ? start + Math.floor(length / 2) - 1 : end;
  if (!isFile(contents)) response.write(contents.subarray(start, last + 1));
  else if (last >= start)
    await pipeline(createReadStream(contents.path, { start, end: last }), response, { end: false });
  if (isCut) setTimeout(() => response.destroy(), 20);
  else response.end();
}
