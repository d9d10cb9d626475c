// The receipt of an answer, only for the key of its request, and the public keys that verify receipts.
import { CompletionError } from '@strata/inference';
import { z } from 'zod';
import { route } from './route.ts';

export const KEY_SET_PATH = '/.well-known/inference-keys.json';

const KEY_SET_SECONDS = 60;
const RECEIPT_ID = z
  .string()
  .regex(/^rwr_[0-9A-HJKMNP-TV-Z]{26}$/, 'A receipt id is the value of x-receipt-id: rwr_ followed by a ULID.');

export const getKeySet = route(
  { method: 'GET', path: KEY_SET_PATH, access: 'open' },
  ({ ledger }, _input, { reply }) => {
    reply.header('cache-control', `public, max-age=${KEY_SET_SECONDS}`);
    return ledger.keySet();
  },
);

export const getReceipt = route(
  {
    method: 'GET',
    path: '/v1/receipts/{id}',
    params: z.object({ id: RECEIPT_ID }),
    described: { summary: 'Get the receipt of an answer of this key', answer: 'Receipt' },
  },
  async ({ recorder }, { id }, { request, reply }) => {
    const receipt = await recorder.receipt(id, request.caller.id);
    if (receipt === undefined)
      throw new CompletionError(
        'not_found',
        'This key has no such receipt. Receipts are available once their answer has ended, until they expire.',
      );
    return reply.type('application/json; charset=utf-8').send(receipt);
  },
);
