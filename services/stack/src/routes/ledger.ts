// The transparency log as C2SP tlog-tiles, and the proof of a receipt.
import { route } from '@strata/http';
import { ledgerReceiptProof } from '@strata/receipts';
import { z } from 'zod';
import type { StackApp } from '../context.ts';

const receiptParams = z.object({
  ledger_receipt_id: z.string().regex(/^cr_[a-z2-7]{32}$/, 'cr_ and 32 characters of base32'),
});

export const getCheckpoint = route(
  {
    method: 'GET',
    path: '/ledger/checkpoint',
    tag: 'Status',
    summary: 'Signed tree head of the ledger',
    output: {
      kind: 'bytes',
      contentType: 'text/plain; charset=utf-8',
      description: 'A C2SP checkpoint (signed note), with the cosignatures of witnesses, if any.',
    },
    errors: [],
    access: 'open',
  },
  (app: StackApp) => ({ bytes: app.ledger.log.checkpoint() }),
);

export const getTile = route(
  {
    method: 'GET',
    path: '/ledger/tile/{rest*}',
    tag: 'Status',
    summary: 'Tiles and entry bundles of the ledger',
    description: 'C2SP tlog-tiles: `tile/<L>/<N>[.p/<W>]` and `tile/entries/<N>[.p/<W>]`.',
    params: z.object({ rest: z.string().max(200) }),
    output: {
      kind: 'bytes',
      contentType: 'application/octet-stream',
      description: 'Hashes, or length-prefixed leaves.',
    },
    errors: ['not_found'],
    access: 'open',
  },
  async (app: StackApp, { rest }, context) => {
    const bytes = await app.ledger.log.read(`tile/${rest}`);
    if (!bytes) return context.refuse('not_found', 'The ledger has no such tile.');
    return { bytes, maxAgeSeconds: Number.POSITIVE_INFINITY };
  },
);

export const getLedgerReceipt = route(
  {
    method: 'GET',
    path: '/ledger/receipts/{ledger_receipt_id}',
    tag: 'Status',
    summary: 'Leaf and inclusion proof of a receipt',
    params: receiptParams,
    output: {
      kind: 'json',
      description: 'The proof that the receipt is in the ledger. Leaf and proof hashes are in base64.',
      schema: z.object({
        ledger_receipt_id: z.string(),
        receipt_id: z.string(),
        leaf: z.string(),
        index: z.int(),
        tree_size: z.int(),
        proof: z.array(z.string()),
        checkpoint: z.string(),
      }),
    },
    errors: ['not_found'],
    access: 'open',
  },
  async (app: StackApp, input, context) => {
    const receipt = await app.ledger.log.receipt(input.ledger_receipt_id);
    if (!receipt) return context.refuse('not_found', 'The ledger has no such receipt.');
    return { ...receipt, proof: [...receipt.proof] };
  },
);

export const getLedgerProof = route(
  {
    method: 'GET',
    path: '/ledger/receipts/{ledger_receipt_id}/proof',
    tag: 'Status',
    summary: 'The same as a C2SP tlog-proof',
    params: receiptParams,
    output: { kind: 'bytes', contentType: 'text/plain; charset=utf-8', description: 'A C2SP tlog-proof.' },
    errors: ['not_found'],
    access: 'open',
  },
  async (app: StackApp, input, context) => {
    const receipt = await app.ledger.log.receipt(input.ledger_receipt_id);
    if (!receipt) return context.refuse('not_found', 'The ledger has no such receipt.');
    return { bytes: ledgerReceiptProof(receipt) };
  },
);
