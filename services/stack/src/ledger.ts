// The signing keys, the log, and the notary that joins them: a body leaves with a receipt whose leaf is durable.
import { hash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Notary } from '@strata/http';
import { type Keyring, openKeyring, openLog, type TileLog } from '@strata/log';
import { issueDetachedReceipt, issueReceipt, type KeySet, keySetDocument, ledgerEntry } from '@strata/receipts';

export const KEY_SET_PATH = '/.well-known/stack-keys.json';

const digest = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

export interface Ledger extends AsyncDisposable {
  readonly notary: Notary;
  readonly log: TileLog;
  /** Current and retired keys, and how to check the ledger's checkpoints. */
  keySet(): KeySet;
  /** Takes up a rotation made by another process. */
  reload(): Promise<void>;
}

export interface LedgerOptions {
  readonly dataDirectory: string;
  /** The log's name in its checkpoints, for ever. */
  readonly origin: string;
  readonly now: () => Date;
}

/** Opens both keyrings and the log below the data directory, making them on first start. */
export async function openLedger({ dataDirectory, origin, now }: LedgerOptions): Promise<Ledger> {
  const { receipts, checkpoints } = await openKeyrings(dataDirectory, now);
  const log = await openLog({ directory: path.join(dataDirectory, 'ledger'), origin, signer: checkpoints.signer });

  const notary: Notary = {
    async sign(body) {
      const random = randomBytes(16);
      const options = { signer: receipts.signer, now: now(), random, publicKeyUrl: KEY_SET_PATH, digest };
      const issued = issueReceipt(body, options);
      await log.append(issued.leaf);
      return issued.body;
    },
    async signBytes(content, contentType) {
      const options = {
        signer: receipts.signer,
        now: now(),
        random: randomBytes(16),
        publicKeyUrl: KEY_SET_PATH,
        digest,
      };
      const issued = issueDetachedReceipt(content, contentType, options);
      await log.append(issued.leaf);
      return issued.provenance;
    },
  };
  return {
    notary,
    log,
    keySet: () => keySetDocument(receipts.keys, ledgerEntry(checkpoints.keys, { origin, url: '/ledger/' })),
    async reload() {
      await receipts.reload();
      if (await checkpoints.reload()) await log.resign();
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** Retires both signing keys and makes new ones; a running service takes them up by `reload`. */
export async function rotateSigningKeys(dataDirectory: string, now: () => Date): Promise<readonly string[]> {
  const { receipts, checkpoints } = await openKeyrings(dataDirectory, now);
  await receipts.rotate();
  await checkpoints.rotate();
  return [receipts.signer.keyId, checkpoints.signer.keyId];
}

async function openKeyrings(
  dataDirectory: string,
  now: () => Date,
): Promise<{ readonly receipts: Keyring; readonly checkpoints: Keyring }> {
  const open = (name: string) => openKeyring({ directory: path.join(dataDirectory, 'keys', name), now });
  return { receipts: await open('receipts'), checkpoints: await open('ledger') };
}
