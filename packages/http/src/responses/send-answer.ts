// Sends responses: cached bytes, other content, and the headers common to all.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerSecurity } from '../access/security-headers.ts';
import type { Bytes } from '../route.ts';
import type { ReadyAnswer } from './answer-cache.ts';
import { encodedBytes, encodedNow, encodingFor, etagFor } from './compress.ts';

export const commonHeaders = {
  ...answerSecurity,
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, allow, content-disposition, ratelimit, ratelimit-policy, x-ratelimit-limit, x-ratelimit-remaining, ' +
    'x-ratelimit-reset, retry-after, stack-provenance, stack-truncated, x-request-id',
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

/** Sends a ready response through Fastify, which adds the headers set on the reply, such as quota headers. */
export async function sendReady(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ReadyAnswer,
): Promise<FastifyReply> {
  const headers = { ...readyHeaders, ...answer.headers, 'x-request-id': request.id };
  // The result of a POST is for one client, for example a new key: never cached.
  if (request.method === 'POST') {
    return reply
      .headers({ ...headers, 'cache-control': 'no-store' })
      .code(answer.status)
      .send(answer.bytes);
  }
  const encoding = encodingFor(request.headers['accept-encoding'], answer);
  const etag = etagFor(answer.etag, encoding);
  if (isKnown(request, answer)) {
    return reply
      .headers({ ...notModifiedHeaders, etag, 'x-request-id': request.id })
      .code(304)
      .send();
  }
  reply.headers({ ...headers, etag });
  if (encoding === undefined) return reply.code(answer.status).send(answer.bytes);
  const bytes = await encodedBytes(answer, encoding);
  return reply.header('content-encoding', encoding).code(answer.status).send(bytes);
}

/**
 * Bypasses Fastify, which would only copy headers: writes the cached bytes directly. Returns the status, or undefined
 * if the requested encoding is not cached yet: then the full path is taken. Node omits the body for HEAD.
 */
export function sendAtOnce(request: FastifyRequest, reply: FastifyReply, answer: ReadyAnswer): number | undefined {
  const encoding = encodingFor(request.headers['accept-encoding'], answer);
  const bytes = encoding === undefined ? answer.bytes : encodedNow(answer, encoding);
  if (bytes === undefined) return undefined;
  reply.hijack();
  const etag = etagFor(answer.etag, encoding);
  if (isKnown(request, answer)) {
    reply.raw.writeHead(304, [...notModifiedHeaderList, 'etag', etag, 'x-request-id', request.id]).end();
    return 304;
  }
  const headers = answer.headers
    ? Object.entries({ ...readyHeaders, ...answer.headers }).flat()
    : readyHeaderList.slice();
  headers.push('etag', etag, 'x-request-id', request.id);
  if (encoding !== undefined) headers.push('content-encoding', encoding);
  headers.push('content-length', String(bytes.length));
  reply.raw.writeHead(answer.status, headers).end(bytes);
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
  if (typeof bytes === 'string') return reply.send(bytes);
  return reply.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function cacheControl(maxAgeSeconds: number | undefined): string {
  if (maxAgeSeconds === undefined) return 'no-cache';
  if (maxAgeSeconds === Number.POSITIVE_INFINITY) return 'public, max-age=31536000, immutable';
  return `public, max-age=${maxAgeSeconds}`;
}

/** Whether the client already has this response, in any encoding: If-None-Match compares weakly (RFC 9110, 13.1.2). */
function isKnown(request: FastifyRequest, { etag, status }: ReadyAnswer): boolean {
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
