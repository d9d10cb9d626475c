// A service's signing keys and its log together: receipts signed with the one, kept by the other.
import { hash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { type IssueOptions, type KeySet, keySetDocument, ledgerEntry } from '@strata/receipts';
import { type Keyring, type KeyringSigner, openKeyring } from './signing-keys.ts';
import { openLog, type TileLog } from './tile-log.ts';

export interface SignedLedgerOptions {
  /** Holds `keys/receipts`, `keys/ledger` and `ledger`. */
  readonly directory: string;
  /** The log's name in its checkpoints, for ever. */
  readonly origin: string;
  /** Path of the service's key set, as receipts name it. */
  readonly keySetPath: string;
  readonly now: () => Date;
}

export interface SignedLedger extends AsyncDisposable {
  readonly log: TileLog;
  /** What a receipt needs that is issued now: the current key, the time, and an id, by chance where none was given out. */
  issuing(receiptId?: string): IssueOptions;
  readonly signer: KeyringSigner;
  /** Current and retired keys, and how to check the log's checkpoints. */
  keySet(): KeySet;
  /** Takes up a rotation made by another process. */
  reload(): Promise<void>;
}

/** Where the id is chosen already. */
const NO_CHANCE = new Uint8Array();

/** Opens both keyrings and the log, making them on first start. Rejects with KeyringError or LogError. */
export async function openSignedLedger({
  directory,
  origin,
  keySetPath,
  now,
}: SignedLedgerOptions): Promise<SignedLedger> {
  const { receipts, checkpoints } = await openKeyrings(directory, now);
  const log = await openLog({ directory: path.join(directory, 'ledger'), origin, signer: checkpoints.signer });
  return {
    log,
    signer: receipts.signer,
    issuing: (receiptId) => ({
      signer: receipts.signer,
      now: now(),
      ...(receiptId === undefined ? { random: randomBytes(16) } : { random: NO_CHANCE, receiptId }),
      publicKeyUrl: keySetPath,
      digest: (bytes) => hash('sha256', bytes, 'buffer'),
    }),
    keySet: () => keySetDocument(receipts.keys, ledgerEntry(checkpoints.keys, { origin, url: '/ledger/' })),
    async reload() {
      await receipts.reload();
      if (await checkpoints.reload()) await log.resign();
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** Retires both signing keys and makes new ones; a running service takes them up by `reload`. Returns their ids. */
export async function rotateSigningKeys(directory: string, now: () => Date): Promise<readonly string[]> {
  const { receipts, checkpoints } = await openKeyrings(directory, now);
  await receipts.rotate();
  await checkpoints.rotate();
  return [receipts.signer.keyId, checkpoints.signer.keyId];
}

async function openKeyrings(
  directory: string,
  now: () => Date,
): Promise<{ readonly receipts: Keyring; readonly checkpoints: Keyring }> {
  const open = (name: string) => openKeyring({ directory: path.join(directory, 'keys', name), now });
  return { receipts: await open('receipts'), checkpoints: await open('ledger') };
}
