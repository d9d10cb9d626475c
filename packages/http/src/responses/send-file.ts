// Sends a file that does not change, or one range of it (RFC 9110, 13.1.5 and 14).
import { createReadStream } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoredFile } from '../route.ts';
import { contentDisposition } from '../tables/table.ts';
import { commonHeaders, isKnown } from './send-answer.ts';

/** Several ranges in one request are answered with the complete file, as RFC 9110 allows. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: StoredFile): FastifyReply {
  const { sizeBytes, sha256, contentType, filename, provenance } = file;
  const etag = `"${sha256.slice(0, 32)}"`;
  reply.headers({
    ...commonHeaders,
    'x-request-id': request.id,
    'cache-control': 'private, no-cache',
    vary: 'accept, x-stack-key',
    'accept-ranges': 'bytes',
    etag,
  });
  if (isKnown(request, { etag, status: 200, bytes: Buffer.alloc(0) })) return reply.code(304).send();
  const range = rangeOf(request, { etag, sizeBytes });
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${sizeBytes}`).send();
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  reply.code(range ? 206 : 200).headers({
    'content-type': contentType,
    'content-disposition': contentDisposition(filename),
    'stack-provenance': provenance,
    'content-length': end - start + 1,
    ...(range && { 'content-range': `bytes ${start}-${end}/${sizeBytes}` }),
  });
  if (request.method === 'HEAD') {
    // Fastify would replace the length by that of the missing content.
    reply.hijack();
    reply.raw
      .writeHead(
        200,
        Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)]),
      )
      .end();
    return reply;
  }
  // For a file without bytes there is no range to read.
  if (sizeBytes === 0) return reply.send('');
  return reply.send(createReadStream(file.path, { start, end }));
}

/** Undefined: the complete file is asked for, or If-Range names another one. Both ends are included. */
function rangeOf(
  { headers, method }: FastifyRequest,
  { etag, sizeBytes }: { readonly etag: string; readonly sizeBytes: number },
): { readonly start: number; readonly end: number } | 'unsatisfiable' | undefined {
  const condition = headers['if-range'];
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '');
  if (!match || method !== 'GET' || (condition !== undefined && condition !== etag)) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  return start > end ? 'unsatisfiable' : { start, end };
}
