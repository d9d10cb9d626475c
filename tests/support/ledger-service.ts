// A service that gives one signed answer, with a ledger that a test changes between two requests: it grows, forks, loses leaves.
import { type KeySet, leafHash, ledgerEntry, ledgerReceiptIdOf, treeRoot } from '../../packages/receipts/src/index.ts';
import {
  bytesOf,
  checkpointOver,
  goodAnswer,
  KEY_SET,
  LEDGER_KEY,
  ledgerReceiptOf,
  ORIGIN,
  readerOver,
  type TestKey,
  tilesOver,
} from '../../packages/receipts/src/test/fixture.ts';

export { rotationNote, testKey } from '../../packages/receipts/src/test/fixture.ts';

/** Path of the answer. */
export const ANSWER_PATH = '/stack/v1/domains/example.com';
const { body } = await goodAnswer();
const ANSWER = JSON.stringify(body);

export interface LedgerState {
  /** Leaves, of which the answer's is the third. */
  readonly size: number;
  /** The first leaf, from the fourth on, that is of another history. */
  readonly forkedAt?: number;
  readonly key?: TestKey;
}

export async function ledgerService(begin: LedgerState) {
  let pages = await pagesOf(begin);
  return {
    /** From now on this is the ledger. */
    async become(state: LedgerState) {
      pages = await pagesOf(state);
    },
    answer: async (path: string): Promise<{ readonly status: number; readonly content: Uint8Array | string }> => {
      const content = await pages(path);
      return { status: content === undefined ? 404 : 200, content: content ?? '{}' };
    },
  };
}

async function pagesOf({ size, forkedAt = size, key = LEDGER_KEY }: LedgerState) {
  const answered = await answeredLeaf();
  const leaves = Array.from({ length: size }, (_, at) =>
    at === 2 ? answered : bytesOf(`${at >= forkedAt ? 'other ' : ''}leaf ${at}`),
  );
  const checkpoint = checkpointOver(size, await treeRoot(readerOver(leaves), size), { key });
  const receipt = { ...(await ledgerReceiptOf(leaves, 2)), checkpoint };
  const entry = { ...KEY_SET.keys[0], x: Buffer.from(key.publicKey).toString('base64url') } as KeySet['keys'][number];
  const keySet = { ...KEY_SET, ledger: ledgerEntry([entry], { origin: ORIGIN, url: '/ledger/' }) };
  const texts: Readonly<Record<string, string>> = {
    [ANSWER_PATH]: ANSWER,
    '/.well-known/stack-keys.json': JSON.stringify(keySet),
    '/ledger/checkpoint': checkpoint,
    [`/ledger/receipts/${ledgerReceiptIdOf(leafHash(answered))}`]: JSON.stringify(receipt),
  };
  return async (path: string) =>
    path.startsWith('/ledger/tile/') ? tilesOver(leaves)(path.slice('/ledger/'.length)) : texts[path];
}

/** The leaf of the answer, which stands in the ledger receipt of the fixture. */
async function answeredLeaf(): Promise<Uint8Array> {
  const { ledgerReceipt } = await goodAnswer();
  return Uint8Array.from(Buffer.from(ledgerReceipt.leaf, 'base64'));
}
