// Receipts and their proofs: the key set and the ledger are public; a receipt is only returned to the key of its
// request.
import { CompletionError } from '@strata/inference';
import type { SignedLedger } from '@strata/log';
import { ledgerReceiptProof } from '@strata/receipts';
import type { FastifyInstance } from 'fastify';
import type { UsageRecorder } from '../store/usage-recorder.ts';

export const KEY_SET_PATH = '/.well-known/inference-keys.json';

const KEY_SET_SECONDS = 60;
const LEDGER_ID = /^cr_[a-z2-7]{32}$/;
const RECEIPT_ID = /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/;

export function addLedgerRoutes(fastify: FastifyInstance, { log, keySet }: SignedLedger): void {
  fastify.get(KEY_SET_PATH, (_request, reply) => {
    reply.header('cache-control', `public, max-age=${KEY_SET_SECONDS}`);
    return keySet();
  });
  fastify.get('/ledger/checkpoint', (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8').send(log.checkpoint()),
  );
  fastify.get('/ledger/tile/*', async (request, reply) => {
    const bytes = await log.read(`tile/${(request.params as { '*': string })['*'].slice(0, 200)}`);
    if (!bytes) throw new CompletionError('not_found', 'The ledger has no such tile.');
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type('application/octet-stream')
      .send(Buffer.from(bytes));
  });
  fastify.get('/ledger/receipts/:id', (request) => ledgerReceipt(request.params));
  fastify.get('/ledger/receipts/:id/proof', async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(ledgerReceiptProof(await ledgerReceipt(request.params))),
  );

  async function ledgerReceipt(params: unknown) {
    const { id } = params as { readonly id: string };
    if (!LEDGER_ID.test(id))
      throw new CompletionError('invalid_value', 'A ledger id is cr_ followed by 32 base32 characters.', {
        param: 'id',
      });
    const receipt = await log.receipt(id);
    if (!receipt) throw new CompletionError('not_found', 'The ledger has no such receipt.');
    return receipt;
  }
}

/** Below `/v1`, where requests are authenticated. */
export function addReceiptRoute(v1: FastifyInstance, recorder: UsageRecorder): void {
  v1.get('/receipts/:id', async (request, reply) => {
    const { id } = request.params as { readonly id: string };
    if (!RECEIPT_ID.test(id))
      throw new CompletionError(
        'invalid_value',
        'A receipt id is the value of x-receipt-id: rwr_ followed by a ULID.',
        {
          param: 'id',
        },
      );
    const receipt = await recorder.receipt(id, request.caller.id);
    if (receipt === undefined)
      throw new CompletionError(
        'not_found',
        'This key has no such receipt. Receipts are available once their answer has ended, until they expire.',
      );
    return reply.type('application/json; charset=utf-8').send(receipt);
  });
}
