// The notary of the service: signs bodies, and returns them after their receipt is durable in the log.
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { Notary } from '@strata/http';
import { openSignedLedger, type SignedLedger, type SignedLedgerOptions } from '@strata/log';
import { issueDetachedReceipt, prepareReceipt } from '@strata/receipts';
import type { Store } from '../store/index.ts';
import { createSignOnce } from './sign-once.ts';

export const KEY_SET_PATH = '/.well-known/stack-keys.json';

export interface Ledger extends SignedLedger {
  readonly notary: Notary;
  /** Signs with an ephemeral key and does not log: for warm-up answers that are never sent. */
  readonly rehearsal: Notary;
}

export interface LedgerOptions extends Pick<SignedLedgerOptions, 'now' | 'witnesses' | 'logger' | 'signal'> {
  readonly dataDirectory: string;
  /** The log's permanent name in its checkpoints. */
  readonly origin: string;
  /** A shared database also contains the log. */
  readonly store: Pick<Store, 'ledger' | 'ledgerCheckpoint' | 'texts'>;
}

/** Opens both keyrings below the data directory, and the log there or in the database; creates them on first start. */
export async function openLedger({ dataDirectory, origin, store, ...options }: LedgerOptions): Promise<Ledger> {
  const signed = await openSignedLedger({
    ...{ ...options, directory: dataDirectory, origin, keySetPath: KEY_SET_PATH },
    ...{ shared: store.ledger, checkpointCopy: store.ledgerCheckpoint(origin) },
  });
  const ephemeral = ephemeralSigner();
  const { log } = signed;
  const signing = createSigning(signed.issuing, (leaf) => log.append(leaf));
  const rehearsing = createSigning(
    () => ({ ...signed.issuing(), signer: ephemeral }),
    async () => {},
  );
  const keyId = () => signed.signer.keyId;
  return {
    ...signed,
    notary: { ...signing, signOnce: createSignOnce({ sign: signing.sign, log, keyId, texts: store.texts }) },
    rehearsal: { ...rehearsing, signOnce: rehearsing.sign },
  };
}

/** From this size on, a thread of Node's pool signs. For less, waking that thread costs this one as much as signing, and the process more. */
const LARGE_BYTES = 32_768;
const signInPool = promisify(sign);

/** Signs with the current key; returns after the leaf is appended. */
function createSigning(
  issuing: () => ReturnType<SignedLedger['issuing']>,
  append: (leaf: Uint8Array) => Promise<unknown>,
): Omit<Notary, 'signOnce'> {
  return {
    async sign(body) {
      const options = issuing();
      const { signedBytes, finish } = prepareReceipt(body, options);
      const { signer } = options;
      const isLarge = signedBytes.length >= LARGE_BYTES;
      const issued = finish(
        isLarge ? await signInPool(null, signedBytes, signer.privateKey) : signer.sign(signedBytes),
      );
      await append(issued.leaf);
      return issued.text();
    },
    async signBytes(content, contentType) {
      const issued = issueDetachedReceipt(content, contentType, issuing());
      await append(issued.leaf);
      return issued.provenance;
    },
  };
}

function ephemeralSigner(): ReturnType<SignedLedger['issuing']>['signer'] {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { keyId: 'rehearsal', privateKey, sign: (bytes) => sign(null, bytes, privateKey) };
}
