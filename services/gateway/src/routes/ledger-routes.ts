// Receipts and their proofs: the key set and the ledger are public; a receipt is only returned to the key of its
// request.
import { CompletionError } from '@strata/inference';
import { ledgerReceiptProof } from '@strata/receipts';
import { z } from 'zod';
import { type GatewayApp, route } from './route.ts';

export const KEY_SET_PATH = '/.well-known/inference-keys.json';

const KEY_SET_SECONDS = 60;
const LEDGER_ID = z.string().regex(/^cr_[a-z2-7]{32}$/, 'A ledger id is cr_ followed by 32 base32 characters.');
const RECEIPT_ID = z
  .string()
  .regex(/^rwr_[0-9A-HJKMNP-TV-Z]{26}$/, 'A receipt id is the value of x-receipt-id: rwr_ followed by a ULID.');

const open = { method: 'GET', access: 'open' } as const;
const ofReceipt = { ...open, params: z.object({ id: LEDGER_ID }) } as const;

export const getKeySet = route({ ...open, path: KEY_SET_PATH }, ({ ledger }, _input, { reply }) => {
  reply.header('cache-control', `public, max-age=${KEY_SET_SECONDS}`);
  return ledger.keySet();
});

export const getCheckpoint = route({ ...open, path: '/ledger/checkpoint' }, ({ ledger }, _input, { reply }) =>
  reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8').send(ledger.log.checkpoint()),
);

export const getTile = route(
  { ...open, path: '/ledger/tile/{rest*}', params: z.object({ rest: z.string() }) },
  async ({ ledger }, { rest }, { reply }) => {
    const bytes = await ledger.log.read(`tile/${rest.slice(0, 200)}`);
    if (!bytes) throw new CompletionError('not_found', 'The ledger has no such tile.');
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type('application/octet-stream')
      .send(Buffer.from(bytes));
  },
);

export const getLedgerReceipt = route({ ...ofReceipt, path: '/ledger/receipts/{id}' }, ({ ledger }, { id }) =>
  ledgerReceipt(ledger, id),
);

export const getLedgerProof = route(
  { ...ofReceipt, path: '/ledger/receipts/{id}/proof' },
  async ({ ledger }, { id }, { reply }) =>
    reply.type('text/plain; charset=utf-8').send(ledgerReceiptProof(await ledgerReceipt(ledger, id))),
);

async function ledgerReceipt({ log }: GatewayApp['ledger'], id: string) {
  const receipt = await log.receipt(id);
  if (!receipt) throw new CompletionError('not_found', 'The ledger has no such receipt.');
  return receipt;
}

export const getReceipt = route(
  {
    method: 'GET',
    path: '/v1/receipts/{id}',
    access: 'key',
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
