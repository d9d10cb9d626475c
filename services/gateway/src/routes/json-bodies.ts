// Request bodies: JSON without compression, of limited depth, with the salted digest that the receipt contains.
import { createHmac, randomBytes } from 'node:crypto';
import { CompletionError } from '@strata/inference';
import { SALT_BYTES } from '@strata/receipts';
import type { FastifyInstance } from 'fastify';
import { nestsDeeper } from '../limits/json-nesting.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Hexadecimal: the salt of the receipt's digests, and the digest of the request body. */
    receiptSalt: string;
    bodyDigest: string;
  }
}

/** Maximum nesting depth of arrays and objects. */
const MAX_NESTED = 200;

export function acceptJson(fastify: FastifyInstance): void {
  fastify.decorateRequest('receiptSalt', '');
  fastify.decorateRequest('bodyDigest', '');
  fastify.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw new CompletionError('unsupported_media_type', 'Send the body as it is, without a Content-Encoding.');
  });
  fastify.removeContentTypeParser('application/json');
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const salt = randomBytes(SALT_BYTES);
    request.receiptSalt = salt.toString('hex');
    request.bodyDigest = createHmac('sha256', salt).update(body).digest('hex');
    if (nestsDeeper(body, MAX_NESTED)) {
      done(new CompletionError('invalid_request', `The body nests deeper than ${MAX_NESTED} levels.`));
      return;
    }
    parseJson(request, body.toString('utf8'), done);
  });
}
