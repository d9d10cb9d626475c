// The checkpoint keys known to one of several nodes: those of its own directory, and those that other nodes have rotated to.
import { decodeBase64Url, type KeyKind, type PublicKeyEntry } from '@strata/receipts';
import type { CheckpointSigner } from '../log.ts';
import { LogError } from '../log-error.ts';
import type { CheckpointKeys } from '../rows/head.ts';
import type { KeyStorage } from '../rows/ledger-tables.ts';
import { PublishedKeys } from './published-keys.ts';
import { type Keyring, KeyringError } from './signing-keys.ts';

export interface LedgerKeysOptions {
  readonly origin: string;
  readonly keyring: Keyring;
  readonly storage: KeyStorage;
  readonly now: () => Date;
}

/**
 * A rotation is published in the database as a note that the previous key signs, before the new key signs anything. A node with
 * the previous keys therefore trusts the new key, and continues to sign with its own for as long as receipts of a retired key are
 * accepted, which leaves time to copy the new keys to it.
 */
export class LedgerKeys implements CheckpointKeys {
  readonly #options: LedgerKeysOptions;
  readonly #published: PublishedKeys;
  /** Rejects once its key has been retired for too long. */
  readonly signer: CheckpointSigner;

  constructor(options: LedgerKeysOptions) {
    const { origin, keyring, storage } = options;
    const { signer } = keyring;
    this.#options = options;
    this.signer = {
      get publicKey() {
        return signer.publicKey;
      },
      sign: (bytes) => {
        try {
          this.refuseRetired();
        } catch (error) {
          if (error instanceof KeyringError) throw new LogError('wrong-key', error.message, { cause: error });
          throw error;
        }
        return signer.sign(bytes);
      },
    };
    this.#published = new PublishedKeys({
      ...{ origin, kind: 'ledger', signer: this.signer, storage },
      trusted: () => this.publicKeys(),
    });
  }

  /** Current keys first; the same on every node after a refresh. */
  get entries(): readonly PublicKeyEntry[] {
    const published = this.#published.entries;
    const kids = new Set(published.map(({ kid }) => kid));
    return [...published, ...this.#options.keyring.keys.filter(({ kid }) => !kids.has(kid))];
  }

  /** Notes by which another key vouches for a key, by key id; published notes precede those of the directory. */
  get rotations(): ReadonlyMap<string, string> {
    return new Map([...this.#options.keyring.rotations, ...this.#published.rotations]);
  }

  publicKeys(): readonly Uint8Array[] {
    return publicKeyBytes(this.entries);
  }

  /** Reads the keys that other nodes have published. */
  refresh(): Promise<void> {
    return this.#published.refresh();
  }

  /** Publishes the keys of this node's directory to all nodes. */
  publish(): Promise<void> {
    return this.#published.publish(this.#options.keyring.keys);
  }

  /**
   * Publishes the new key of a rotation before it is in the directory. The old key is published as retired only by `publish`, once
   * the new one is on disk: an interrupted rotation would otherwise leave a ledger that no key can sign.
   */
  async announce(rotated: readonly PublicKeyEntry[]): Promise<void> {
    const { keyId } = this.#options.keyring.signer;
    if (!isAmong(rotated, keyId)) throw noRotationOf(keyId);
    await this.#published.publish(rotated.filter(({ status }) => status === 'current'));
  }

  async reload(): Promise<boolean> {
    const isChanged = await this.#options.keyring.reload((keys) => this.#publishRotation(keys));
    await this.#published.refresh();
    return isChanged;
  }

  /** When another node retired the current key; undefined if it is current. */
  retiredAt(): string | undefined {
    return this.#published.retiredAt(this.#options.keyring.signer.keyId);
  }

  /** Publishes the keys that are in the directory now. Rejects with LogError `wrong-key` if they are not the result of a rotation. */
  async #publishRotation(keys: readonly PublicKeyEntry[]): Promise<void> {
    const { keyId } = this.#options.keyring.signer;
    const [next] = keys;
    await this.refresh();
    const statusOf = (kid: string | undefined) => this.#published.entries.find((entry) => entry.kid === kid)?.status;
    const isNewer = isAmong(keys, keyId)
      ? // A restored older key lists newer ones as retired: publishing that would retire all of them.
        statusOf(next?.kid) !== 'retired' || statusOf(keyId) === 'retired'
      : // Two copies of the directory were rotated, and one was published.
        statusOf(next?.kid) === 'current';
    if (!isNewer) throw noRotationOf(keyId);
    await this.#published.publish(keys);
  }

  /** Throws KeyringError if another node has retired the current key and verifiers would reject its receipts. */
  refuseRetired(overlap: { readonly overlapMs?: number } = {}): void {
    const { keyring, now } = this.#options;
    this.#published.refuseRetired(keyring.signer.keyId, now(), overlap);
  }
}

export interface PublishedKeyTexts {
  readonly origin: string;
  /** Texts of a `KeyStorage`, by id. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Ledger keys in key-set order: those of a directory, and those that they vouch for among the texts. A key that another node retired
 * is listed as retired.
 */
export async function publishedLedgerKeys<Key extends Pick<PublicKeyEntry, 'x'>>(
  own: readonly Key[],
  keys: PublishedKeyTexts,
): Promise<readonly (Key | PublicKeyEntry)[]> {
  const published: PublishedKeys = readOnlyKeys('ledger', keys, () => publicKeyBytes([...own, ...published.entries]));
  await published.refresh();
  const publishedKeys = new Set(published.entries.map(({ x }) => x));
  return [...published.entries, ...own.filter(({ x }) => !publishedKeys.has(x))];
}

/** Receipt keys that the keys of a ledger vouch for. */
export async function publishedReceiptKeys(
  ledgerKeys: readonly Pick<PublicKeyEntry, 'x'>[],
  keys: PublishedKeyTexts,
): Promise<readonly PublicKeyEntry[]> {
  const published = readOnlyKeys('receipt', keys, () => publicKeyBytes(ledgerKeys));
  await published.refresh();
  return published.entries;
}

const readOnlyKeys = (
  kind: KeyKind,
  { origin, texts }: PublishedKeyTexts,
  trusted: () => readonly Uint8Array[],
): PublishedKeys =>
  new PublishedKeys({
    ...{ origin, kind, signer: NO_SIGNER, trusted },
    storage: { all: async () => texts, put: async () => {} },
  });

const NO_SIGNER: CheckpointSigner = {
  publicKey: new Uint8Array(),
  sign: () => {
    throw new KeyringError('these keys are read-only');
  },
};

const isAmong = (keys: readonly PublicKeyEntry[], keyId: string): boolean => keys.some(({ kid }) => kid === keyId);

const noRotationOf = (keyId: string): LogError =>
  new LogError(
    'wrong-key',
    `the ledger keys in the folder are not a rotation of ${keyId}, which signs this ledger: restore the right folder`,
  );

/** The 32 bytes of each valid key. */
export const publicKeyBytes = (keys: readonly Pick<PublicKeyEntry, 'x'>[]): Uint8Array[] =>
  keys.flatMap(({ x }) => decodeBase64Url(x) ?? []);
