// How answers leave: ready bytes from memory, bytes of other kinds, and the headers that all of them carry.
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
 * A 304 has no content to tell about (RFC 9110, 15.4.5). What a browser keeps is of one key: the headers of another one's quota
 * must not come back with it.
 */
const notModifiedHeaders = {
  ...commonHeaders,
  'cache-control': 'private, no-cache',
  vary: 'accept-encoding, x-stack-key',
} as const;
const readyHeaders = { 'content-type': 'application/json; charset=utf-8', ...notModifiedHeaders } as const;
/** The same as flat lists of names and values, the form that Node writes without looking at it again. */
const notModifiedHeaderList: readonly string[] = Object.entries(notModifiedHeaders).flat();
const readyHeaderList: readonly string[] = Object.entries(readyHeaders).flat();

/** A ready answer through Fastify, which adds what the reply was given before: quota headers. */
export async function sendReady(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ReadyAnswer,
): Promise<FastifyReply> {
  const headers = { ...readyHeaders, ...answer.headers, 'x-request-id': request.id };
  // What a POST made is for this one reader, a key for example: no cache keeps it.
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
 * Past Fastify, which would only copy headers about: the answer leaves as it lies in memory. Returns the status, or undefined
 * when it does not lie there in the wanted encoding yet: then it goes the long way. Node leaves the body away for HEAD.
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

/** Whether the client has this answer already, in any encoding: If-None-Match compares weakly (RFC 9110, 13.1.2). */
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
