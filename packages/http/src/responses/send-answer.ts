// Sends responses: cached bytes, other content, and the headers common to all.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { answerSecurity } from '../access/security-headers.ts';
import type { Bytes, Output } from '../route.ts';
import { weightsIn } from './accept-weights.ts';
import type { ReadyAnswer } from './answer-cache.ts';

/** The kinds of responses that have no receipt. */
export type UnsignedOutput = Extract<Output, { kind: 'json' | 'bytes' }>;

export const commonHeaders = {
  ...answerSecurity,
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, allow, content-disposition, ratelimit, ratelimit-policy, x-ratelimit-limit, x-ratelimit-remaining, ' +
    'x-ratelimit-reset, retry-after, stack-provenance, stack-truncated, stack-as-of-event, x-request-id, location, ' +
    'content-range',
} as const;

/**
 * A 304 has no content to describe (RFC 9110, 15.4.5). A browser's cache entry may be shared between keys: it must not
 * repeat the quota headers of another key.
 */
const notModifiedHeaders = {
  ...commonHeaders,
  'cache-control': 'private, no-cache',
  vary: 'accept-encoding, x-stack-key',
} as const;
const readyHeaders = { 'content-type': 'application/json; charset=utf-8', ...notModifiedHeaders } as const;
/** The same as a flat list of names and values, which Node writes without processing. */
const notModifiedHeaderList: readonly string[] = Object.entries(notModifiedHeaders).flat();
const readyHeaderList: readonly string[] = Object.entries(readyHeaders).flat();

/**
 * Sends a ready response as the client prefers it encoded, without Fastify, which would only copy headers: returns the
 * status. Undefined if that encoding is not cached yet: then `sendReady` computes it. `added`: more headers, as names
 * and values. Node omits the body for HEAD.
 */
export function sendAtOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ReadyAnswer,
  added: readonly string[] = [],
): number | undefined {
  // The result of a write is for one client, for example a new key: never cached.
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  const encoding = isWrite ? undefined : encodingFor(request.headers['accept-encoding'], answer);
  const more = [...added, 'x-request-id', request.id];
  if (!isWrite) more.push('etag', etagFor(answer.etag, encoding));
  if (!isWrite && isKnown(request, answer)) {
    reply.hijack();
    reply.raw.writeHead(304, [...notModifiedHeaderList, ...more]).end();
    return 304;
  }
  const bytes = encoding === undefined ? answer.bytes : encodedNow(answer, encoding);
  if (bytes === undefined) return undefined;
  reply.hijack();
  if (encoding !== undefined) more.push('content-encoding', encoding);
  more.push('content-length', String(bytes.length));
  const headers =
    isWrite || answer.headers
      ? Object.entries({ ...readyHeaders, ...answer.headers, ...(isWrite && { 'cache-control': 'no-store' }) }).flat()
      : readyHeaderList;
  reply.raw.writeHead(answer.status, [...headers, ...more]).end(bytes);
  return answer.status;
}

/** The same, with the headers that are set on the reply, such as those of the quota; compresses the bytes if needed. */
export async function sendReady(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ReadyAnswer,
): Promise<FastifyReply> {
  const set = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  const encoding = encodingFor(request.headers['accept-encoding'], answer);
  if (sendAtOnce(request, reply, answer, set) === undefined && encoding !== undefined) {
    await encodedBytes(answer, encoding);
    sendAtOnce(request, reply, answer, set);
  }
  return reply;
}

/** Sends the result of a `json` or `bytes` route; the headers common to all responses are added by the responder. */
export function sendUnsigned(reply: FastifyReply, output: UnsignedOutput, result: unknown): FastifyReply {
  const { bytes, contentType, maxAgeSeconds, updatedAt }: Bytes =
    output.kind === 'json' ? { bytes: JSON.stringify(result) } : (result as Bytes);
  reply.headers({
    'content-type': contentType ?? output.contentType ?? 'application/json; charset=utf-8',
    'cache-control': cacheControl(maxAgeSeconds),
  });
  if (updatedAt) {
    const etag = etagOf(bytes);
    reply.headers({ etag, 'last-modified': updatedAt.toUTCString() });
    if (isUnchanged(reply.request, { etag, updatedAt })) return reply.code(304).send();
  }
  return reply.send(typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** The time counts only without If-None-Match (RFC 9110, 13.1.3), in seconds. */
function isUnchanged(
  request: FastifyRequest,
  { etag, updatedAt }: { readonly etag: string; readonly updatedAt: Date },
) {
  if (request.headers['if-none-match'] !== undefined)
    return isKnown(request, { etag, status: 200, bytes: Buffer.alloc(0) });
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return Math.floor(updatedAt.getTime() / 1_000) * 1_000 <= since;
}

/** Strong entity tag of a content. */
export function etagOf(content: Uint8Array | string): string {
  return `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
}

function cacheControl(maxAgeSeconds: number | undefined): string {
  if (maxAgeSeconds === undefined) return 'no-cache';
  if (maxAgeSeconds === Number.POSITIVE_INFINITY) return 'public, max-age=31536000, immutable';
  return `public, max-age=${maxAgeSeconds}`;
}

/** Whether the client already has this response, in any encoding: If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function isKnown(request: FastifyRequest, { etag, status }: ReadyAnswer): boolean {
  const given = request.headers['if-none-match'];
  if (given === undefined || status !== 200) return false;
  if (given.trim() === '*') return true;
  return given.split(',').some(
    (tag) =>
      tag
        .trim()
        .replace(/^W\//, '')
        .replace(/-(br|gzip)"$/, '"') === etag,
  );
}

type Encoding = 'br' | 'gzip';

/** Shorter bodies fit into one packet uncompressed. */
export const COMPRESS_FROM_BYTES = 1_400;

const brotli = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
/** Above this level brotli takes several times as long for a few per cent. */
const BROTLI_QUALITY = 5;

/** The bytes, or their pending computation: concurrent requests share one compression. */
type Encoded = Partial<Record<Encoding, Buffer | Promise<Buffer>>>;

/** Released together with the response. */
const encodedAnswers = new WeakMap<ReadyAnswer, Encoded>();
/** There are few different Accept-Encoding values, each repeated often. */
const choices = new LRUCache<string, Encoding | 'identity'>({ max: 200 });

/** The encoding for this Accept-Encoding, or undefined for the plain bytes (RFC 9110, 12.5.3). */
export function encodingFor(acceptEncoding: string | string[] | undefined, answer: ReadyAnswer): Encoding | undefined {
  if (typeof acceptEncoding !== 'string' || answer.bytes.length < COMPRESS_FROM_BYTES) return undefined;
  let choice = choices.get(acceptEncoding);
  if (choice === undefined) {
    choice = chooseEncoding(acceptEncoding);
    choices.set(acceptEncoding, choice);
  }
  return choice === 'identity' ? undefined : choice;
}

/** The bytes if they are already compressed. */
export function encodedNow(answer: ReadyAnswer, encoding: Encoding): Buffer | undefined {
  const known = encodedAnswers.get(answer)?.[encoding];
  return Buffer.isBuffer(known) ? known : undefined;
}

/** The compressed bytes; all callers share the same buffer. */
export async function encodedBytes(answer: ReadyAnswer, encoding: Encoding): Promise<Buffer> {
  const encoded = encodedAnswers.get(answer) ?? {};
  encodedAnswers.set(answer, encoded);
  const bytes = encoded[encoding] ?? encode(answer.bytes, encoding);
  encoded[encoding] = bytes;
  try {
    encoded[encoding] = await bytes;
  } catch (error) {
    delete encoded[encoding];
    throw error;
  }
  return bytes;
}

function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(bytes);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotli(bytes, { params });
}

/** Each representation has its own validator (RFC 9110, 8.8.3). */
function etagFor(etag: string, encoding: Encoding | undefined): string {
  return encoding === undefined ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

function chooseEncoding(header: string): Encoding | 'identity' {
  const weights = weightsIn(header.slice(0, 500));
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), weightOf('gzip')];
  if (br > 0 && br >= gz) return 'br';
  return gz > 0 ? 'gzip' : 'identity';
}
