// The body of a route that reads it as a stream: its type and its length are checked.
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../problems/errors.ts';
import type { Endpoint, Upload } from '../route.ts';

/** Refuses another media type, a missing body, and one that is announced as too long. */
export function uploadOf(
  { headers, body }: FastifyRequest,
  { upload = [], bodyBytes = 0 }: Pick<Endpoint, 'upload' | 'bodyBytes'>,
): Upload {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!upload.includes(type) || typeof body !== 'object' || body === null)
    throw new Refusal('unsupported_media_type', `Send a body of one of these types: ${upload.join(', ')}.`);
  if (Number(headers['content-length'] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  return { type, content: bounded(body as AsyncIterable<Uint8Array>, bodyBytes) };
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of chunks) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

const tooLarge = (maxBytes: number) =>
  new Refusal('payload_too_large', `The body has more than ${maxBytes} bytes. Send it in parts.`);
