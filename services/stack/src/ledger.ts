// The signing keys, the log, and the notary that joins them: a body leaves with a receipt whose leaf is durable.
import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import path from 'node:path';
import type { Notary } from '@strata/http';
import { type Keyring, openKeyring, openLog, type TileLog } from '@strata/log';
import {
  issueDetachedReceipt,
  issueReceipt,
  type KeySet,
  keySetDocument,
  ledgerEntry,
  type Signer,
} from '@strata/receipts';

export const KEY_SET_PATH = '/.well-known/stack-keys.json';

const digest = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

export interface Ledger extends AsyncDisposable {
  readonly notary: Notary;
  /** Does the work of the notary with a key that nobody knows, and logs nothing: for answers that do not leave. */
  readonly rehearsal: Notary;
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

  return {
    notary: createNotary(receipts, { now, append: (leaf) => log.append(leaf) }),
    rehearsal: createNotary({ signer: passingSigner() }, { now, append: async () => {} }),
    log,
    keySet: () => keySetDocument(receipts.keys, ledgerEntry(checkpoints.keys, { origin, url: '/ledger/' })),
    async reload() {
      await receipts.reload();
      if (await checkpoints.reload()) await log.resign();
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** Signs with the current key; what it signed leaves after its leaf was appended. */
function createNotary(
  keys: { readonly signer: Signer },
  { now, append }: { readonly now: () => Date; readonly append: (leaf: Uint8Array) => Promise<unknown> },
): Notary {
  const options = () => ({
    signer: keys.signer,
    now: now(),
    random: randomBytes(16),
    publicKeyUrl: KEY_SET_PATH,
    digest,
  });
  return {
    async sign(body) {
      const issued = issueReceipt(body, options());
      await append(issued.leaf);
      return issued.body;
    },
    async signBytes(content, contentType) {
      const issued = issueDetachedReceipt(content, contentType, options());
      await append(issued.leaf);
      return issued.provenance;
    },
  };
}

function passingSigner(): Signer {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { keyId: 'rehearsal', sign: (bytes) => sign(null, bytes, privateKey) };
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
