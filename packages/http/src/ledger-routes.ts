// The routes of a ledger: the transparency log as C2SP tlog-tiles (https://c2sp.org/tlog-tiles), and the proof of a
// receipt.
import { type LedgerReceipt, ledgerReceiptProof } from '@strata/receipts';
import { z } from 'zod';
import { parseInput } from './input.ts';
import { sendUnsigned, type UnsignedOutput } from './responses/send-answer.ts';
import { contextOf } from './responses/signed-responder.ts';
import { type RequestContext, type Route, route } from './route.ts';
import type { HttpServer } from './server.ts';

interface LedgerApp {
  readonly ledger: {
    readonly log: {
      checkpoint(): string;
      /** `path` is untrusted. */
      read(path: string): Promise<Uint8Array | undefined>;
      receipt(ledgerReceiptId: string): Promise<LedgerReceipt | undefined>;
    };
  };
}

const common = { method: 'GET', tag: 'Status', access: 'open' } as const;
const TEXT = 'text/plain; charset=utf-8';
const receiptParams = z.object({
  ledger_receipt_id: z.string().regex(/^cr_[a-z2-7]{32}$/, 'cr_ and 32 characters of base32'),
});

async function receiptOf({ ledger }: LedgerApp, id: string, { refuse }: RequestContext<'not_found'>) {
  return (await ledger.log.receipt(id)) ?? refuse('not_found', 'The ledger has no such receipt.');
}

export const ledgerRoutes: readonly Route<LedgerApp>[] = [
  route(
    {
      ...{ ...common, path: '/ledger/checkpoint' },
      summary: 'Signed tree head of the ledger',
      output: {
        kind: 'bytes',
        contentType: TEXT,
        description: 'A C2SP checkpoint (signed note), with the cosignatures of witnesses, if any.',
      },
    },
    ({ ledger }: LedgerApp) => ({ bytes: ledger.log.checkpoint() }),
  ),
  route(
    {
      ...{ ...common, path: '/ledger/tile/{rest*}', errors: ['not_found'] },
      summary: 'Tiles and entry bundles of the ledger',
      description: 'C2SP tlog-tiles: `tile/<L>/<N>[.p/<W>]` and `tile/entries/<N>[.p/<W>]`.',
      params: z.object({ rest: z.string().max(200) }),
      output: {
        kind: 'bytes',
        contentType: 'application/octet-stream',
        description: 'Hashes, or length-prefixed leaves.',
      },
    },
    async ({ ledger }: LedgerApp, { rest }, { refuse }) => ({
      bytes: (await ledger.log.read(`tile/${rest}`)) ?? refuse('not_found', 'The ledger has no such tile.'),
      maxAgeSeconds: Number.POSITIVE_INFINITY,
    }),
  ),
  route(
    {
      ...{ ...common, path: '/ledger/receipts/{ledger_receipt_id}', errors: ['not_found'] },
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
    },
    async (app: LedgerApp, { ledger_receipt_id: id }, context) => {
      const { proof, ...receipt } = await receiptOf(app, id, context);
      return { ...receipt, proof: [...proof] };
    },
  ),
  route(
    {
      ...{ ...common, path: '/ledger/receipts/{ledger_receipt_id}/proof', errors: ['not_found'] },
      summary: 'The same as a C2SP tlog-proof',
      params: receiptParams,
      output: { kind: 'bytes', contentType: TEXT, description: 'A C2SP tlog-proof.' },
    },
    async (app: LedgerApp, { ledger_receipt_id: id }, context) => ({
      bytes: ledgerReceiptProof(await receiptOf(app, id, context)),
    }),
  ),
];

/** Adds the routes to a server of another responder. */
export function addLedgerRoutes(server: Pick<HttpServer, 'addRoutes'>, app: LedgerApp): void {
  server.addRoutes(ledgerRoutes, {
    async respond({ contract, handler }, request, reply) {
      const result = await handler(app, parseInput(contract, request), contextOf(request, undefined));
      return sendUnsigned(reply, contract.output as UnsignedOutput, result);
    },
  });
}
