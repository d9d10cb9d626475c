// A service that gives one signed answer, with a ledger that a test changes between two requests: it grows, forks, loses leaves.
import { leafHash, ledgerReceiptIdOf } from '../../packages/receipts/src/index.ts';
import * as fixture from '../../packages/receipts/src/test/fixture.ts';

export { keyTextOf, testKey } from '../../packages/receipts/src/test/fixture.ts';

/** Path of the answer. */
export const ANSWER_PATH = '/stack/v1/domains/example.com';
const { body, ledgerReceipt } = fixture.good;
const ANSWERED = Uint8Array.from(Buffer.from(ledgerReceipt.leaf, 'base64'));

export interface LedgerState {
  /** Leaves, of which the answer's is the third. */
  readonly size: number;
  /** The first leaf, from the fourth on, that is of another history. */
  readonly forkedAt?: number;
  readonly key?: fixture.TestKey;
}

/** Bytes or text at a path; undefined where there is nothing. `become` changes the ledger. */
export async function ledgerService(begin: LedgerState) {
  let pages = await pagesOf(begin);
  return {
    async become(state: LedgerState) {
      pages = await pagesOf(state);
    },
    page: async (path: string): Promise<Uint8Array | string | undefined> =>
      path.startsWith('/ledger/tile/') ? pages.tile(path.slice('/ledger/'.length)) : pages.texts[path],
  };
}

async function pagesOf({ size, forkedAt = size, key = fixture.LEDGER_KEY }: LedgerState) {
  const leaves = fixture.history(size, forkedAt).with(2, ANSWERED);
  const receipt = await fixture.ledgerReceiptOf(leaves, 2, key);
  const ledger = { ...fixture.KEY_SET.ledger, verifier_keys: [fixture.keyTextOf(key)] };
  const texts: Readonly<Record<string, string>> = {
    [ANSWER_PATH]: JSON.stringify(body),
    '/.well-known/stack-keys.json': JSON.stringify({ ...fixture.KEY_SET, ledger }),
    '/ledger/checkpoint': receipt.checkpoint,
    [`/ledger/receipts/${ledgerReceiptIdOf(leafHash(ANSWERED))}`]: JSON.stringify(receipt),
  };
  return { texts, tile: fixture.tilesOver(leaves) };
}
