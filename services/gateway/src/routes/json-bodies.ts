// Request bodies: JSON without compression, of limited depth, with the salted digest that the receipt contains.
import { randomPart } from '@strata/db';
import { CompletionError } from '@strata/inference';
import { SALT_BYTES } from '@strata/receipts';
import type { FastifyInstance } from 'fastify';
import { saltedDigest } from '../answers/receipts/salted-digest.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Hexadecimal: the salt of the receipt's digests, and the digest of the request body. */
    receiptSalt: string;
    bodyDigest: string;
    /** The body of a request with `Last-Event-ID`. */
    repeatedBody: Uint8Array | undefined;
  }
}

/** Maximum nesting depth of arrays and objects. */
const MAX_NESTED = 200;

export function acceptJson(fastify: FastifyInstance): void {
  fastify.decorateRequest('receiptSalt', '');
  fastify.decorateRequest('bodyDigest', '');
  fastify.decorateRequest('repeatedBody', undefined);
  fastify.addHook('onRequest', (request, _reply, done) => {
    const encoding = request.headers['content-encoding'];
    const isPlain = encoding === undefined || encoding.toLowerCase() === 'identity';
    if (isPlain) done();
    else done(new CompletionError('unsupported_media_type', 'Send the body as it is, without a Content-Encoding.'));
  });
  fastify.removeContentTypeParser('application/json');
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    request.receiptSalt = Buffer.from(randomPart(SALT_BYTES)).toString('hex');
    request.bodyDigest = saltedDigest(request.receiptSalt, body);
    if (request.headers['last-event-id']) request.repeatedBody = body;
    if (nestsDeeper(body, MAX_NESTED)) {
      done(new CompletionError('invalid_request', `The body nests deeper than ${MAX_NESTED} levels.`));
      return;
    }
    parseJson(request, body.toString('utf8'), done);
  });
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** Of a bracket and a brace: they differ in this bit. */
const [OPEN, CLOSE, BRACE_BIT] = [0x7b, 0x7d, 0x20];

/**
 * Whether arrays and objects nest deeper than `max`: checked before the text is parsed, to protect recursive code from
 * stack overflow. Stops at the first level above it.
 */
export function nestsDeeper(json: Uint8Array, max: number): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i] as number;
    if (isText) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if ((byte | BRACE_BIT) === OPEN) {
      depth += 1;
      if (depth > max) return true;
    } else if ((byte | BRACE_BIT) === CLOSE) depth -= 1;
  }
  return false;
}
