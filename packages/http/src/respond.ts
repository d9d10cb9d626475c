// How answers leave: ready bytes from memory, bytes of other kinds, and the headers that all of them carry.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReadyAnswer } from './answer-cache.ts';
import type { Bytes } from './route.ts';

export const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, ratelimit, ratelimit-policy, retry-after, stack-provenance, stack-truncated, content-disposition, x-request-id',
} as const;

const readyHeaders = {
  ...commonHeaders,
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-cache',
} as const;
/** The same as a flat list of names and values, the form that Node writes without looking at it again. */
const readyHeaderList: readonly string[] = Object.entries(readyHeaders).flat();

/** A signed answer through Fastify, which adds what the reply was given before: quota headers. */
export function sendReady(request: FastifyRequest, reply: FastifyReply, answer: ReadyAnswer): FastifyReply {
  reply.headers({ ...readyHeaders, ...answer.headers, etag: answer.etag, 'x-request-id': request.id });
  return isKnown(request, answer) ? reply.code(304).send() : reply.code(answer.status).send(answer.bytes);
}

/**
 * Past Fastify, which would only copy headers about: the answer leaves as it lies in memory. Returns the status.
 * Node leaves the body away when the request was HEAD.
 */
export function sendAtOnce(request: FastifyRequest, reply: FastifyReply, answer: ReadyAnswer): number {
  reply.hijack();
  const headers = answer.headers
    ? Object.entries({ ...readyHeaders, ...answer.headers }).flat()
    : readyHeaderList.slice();
  headers.push('etag', answer.etag, 'x-request-id', request.id);
  if (isKnown(request, answer)) {
    reply.raw.writeHead(304, headers).end();
    return 304;
  }
  headers.push('content-length', String(answer.bytes.length));
  reply.raw.writeHead(answer.status, headers).end(answer.bytes);
  return answer.status;
}

export function sendBytes(request: FastifyRequest, reply: FastifyReply, result: Bytes): FastifyReply {
  const { bytes, contentType = 'application/octet-stream', maxAgeSeconds } = result;
  reply.headers({
    ...commonHeaders,
    'content-type': contentType,
    'cache-control': cacheControl(maxAgeSeconds),
    'x-request-id': request.id,
  });
  return reply.send(typeof bytes === 'string' ? bytes : Buffer.from(bytes));
}

function cacheControl(maxAgeSeconds: number | undefined): string {
  if (maxAgeSeconds === undefined) return 'no-cache';
  if (maxAgeSeconds === Number.POSITIVE_INFINITY) return 'public, max-age=31536000, immutable';
  return `public, max-age=${maxAgeSeconds}`;
}

/** Whether the client has this answer already: If-None-Match compares weakly (RFC 9110, 13.1.2). */
function isKnown(request: FastifyRequest, { etag, status }: ReadyAnswer): boolean {
  const given = request.headers['if-none-match'];
  if (given === undefined || status !== 200) return false;
  if (given.trim() === '*') return true;
  return given.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
