// The keys of checkpoints as a node of several knows them: those of its own folder, and those that others have rotated to since.
import { decodeBase64Url, type KeyKind, type PublicKeyEntry } from '@strata/receipts';
import type { CheckpointSigner } from '../log.ts';
import { LogError } from '../log-error.ts';
import type { CheckpointKeys } from '../shared/shared-head.ts';
import { type KeyPlace, PublishedKeys } from './published-keys.ts';
import { type Keyring, KeyringError } from './signing-keys.ts';

export interface LedgerKeysOptions {
  readonly origin: string;
  readonly keyring: Keyring;
  readonly place: KeyPlace;
  readonly now: () => Date;
}

/**
 * A rotation is told to all nodes by a text that the key before it signs, in the database, before the new key signs anything. So a node
 * with the folder of before believes what the new key signs, and goes on signing with its own for as long as receipts of a retired
 * key are taken: time to bring it the new folder, with no request refused.
 */
export class LedgerKeys implements CheckpointKeys {
  readonly #options: LedgerKeysOptions;
  readonly #published: PublishedKeys;
  /** Refuses once its key was retired for too long. */
  readonly signer: CheckpointSigner;

  constructor(options: LedgerKeysOptions) {
    const { origin, keyring, place } = options;
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
      ...{ origin, kind: 'ledger', signer: this.signer, place },
      trusted: () => this.publicKeys(),
    });
  }

  /** Current keys first: the same on every node once it has looked. */
  get entries(): readonly PublicKeyEntry[] {
    const published = this.#published.entries;
    const told = new Set(published.map(({ kid }) => kid));
    return [...published, ...this.#options.keyring.keys.filter(({ kid }) => !told.has(kid))];
  }

  /** Notes by which another key vouches for a key, by the id of the key. Those of all nodes come before those of the folder. */
  get rotations(): ReadonlyMap<string, string> {
    return new Map([...this.#options.keyring.rotations, ...this.#published.rotations]);
  }

  publicKeys(): readonly Uint8Array[] {
    return publicKeyBytes(this.entries);
  }

  /** Reads what other nodes have published. */
  look(): Promise<void> {
    return this.#published.look();
  }

  /** Lets every node know the keys of this one's folder. */
  publish(): Promise<void> {
    return this.#published.publish(this.#options.keyring.keys);
  }

  /**
   * Vouches for the key of a rotation before it is in the folder. Nothing is told of the key that it retires: `publish` does that once
   * the new one is in a file. A rotation that ends in between would else leave a ledger that nobody can sign.
   */
  async announce(rotated: readonly PublicKeyEntry[]): Promise<void> {
    const { keyId } = this.#options.keyring.signer;
    if (!isAmong(rotated, keyId)) throw noRotationOf(keyId);
    await this.#published.publish(rotated.filter(({ status }) => status === 'current'));
  }

  async reload(): Promise<boolean> {
    const isChanged = await this.#options.keyring.reload((keys) => this.#takeUp(keys));
    await this.#published.look();
    return isChanged;
  }

  /** When the current key was retired by another node; undefined while it is current there too. */
  retiredAt(): string | undefined {
    return this.#published.retiredAt(this.#options.keyring.signer.keyId);
  }

  /** Tells of keys that are in the folder now. Rejects with LogError `wrong-key` for those that came by no rotation. */
  async #takeUp(keys: readonly PublicKeyEntry[]): Promise<void> {
    const { keyId } = this.#options.keyring.signer;
    const [next] = keys;
    await this.look();
    const told = (kid: string | undefined) => this.#published.entries.find((entry) => entry.kid === kid)?.status;
    const isNewer = isAmong(keys, keyId)
      ? // An older key that was restored names the newer ones as retired: told to all, that would be the end of both.
        told(next?.kid) !== 'retired' || told(keyId) === 'retired'
      : // Two copies of a folder were rotated, and one was chosen for all.
        told(next?.kid) === 'current';
    if (!isNewer) throw noRotationOf(keyId);
    await this.#published.publish(keys);
  }

  /** Throws KeyringError for a current key that another node has retired, once verifiers would not take its receipts any more. */
  refuseRetired(overlap: { readonly overlapMs?: number } = {}): void {
    const { keyring, now } = this.#options;
    this.#published.refuseRetired(keyring.signer.keyId, now(), overlap);
  }
}

export interface KeysTold {
  readonly origin: string;
  /** Texts of a `KeyPlace`. */
  readonly told: ReadonlyMap<string, string>;
}

/**
 * Keys of a ledger: those of a folder, and what these vouch for among the texts, in the order of a key set. One that was retired elsewhere
 * is told as retired.
 */
export async function ledgerKeysTold<Key extends Pick<PublicKeyEntry, 'x'>>(
  own: readonly Key[],
  keys: KeysTold,
): Promise<readonly (Key | PublicKeyEntry)[]> {
  const published: PublishedKeys = onlyRead('ledger', keys, () => publicKeyBytes([...own, ...published.entries]));
  await published.look();
  const others = new Set(published.entries.map(({ x }) => x));
  return [...published.entries, ...own.filter(({ x }) => !others.has(x))];
}

/** Receipt keys that those of a ledger vouch for. */
export async function receiptKeysTold(
  ledgerKeys: readonly Pick<PublicKeyEntry, 'x'>[],
  keys: KeysTold,
): Promise<readonly PublicKeyEntry[]> {
  const published = onlyRead('receipt', keys, () => publicKeyBytes(ledgerKeys));
  await published.look();
  return published.entries;
}

const onlyRead = (kind: KeyKind, { origin, told }: KeysTold, trusted: () => readonly Uint8Array[]): PublishedKeys =>
  new PublishedKeys({
    ...{ origin, kind, signer: NO_SIGNER, trusted },
    place: { all: async () => told, put: async () => {} },
  });

const NO_SIGNER: CheckpointSigner = {
  publicKey: new Uint8Array(),
  sign: () => {
    throw new KeyringError('these keys are only read');
  },
};

const isAmong = (keys: readonly PublicKeyEntry[], keyId: string): boolean => keys.some(({ kid }) => kid === keyId);

const noRotationOf = (keyId: string): LogError =>
  new LogError(
    'wrong-key',
    `the ledger keys that the folder holds now are no rotation of ${keyId}, which signs this ledger: put back the right folder`,
  );

/** 32 bytes of each key that can be read. */
export const publicKeyBytes = (keys: readonly Pick<PublicKeyEntry, 'x'>[]): Uint8Array[] =>
  keys.flatMap(({ x }) => decodeBase64Url(x) ?? []);
