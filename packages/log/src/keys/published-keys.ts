// The public keys of all nodes, where each finds those of the others: of receipts, and of the ledger. Each is signed by a key of the
// ledger: a database alone vouches for no key.
import {
  encodeBase64Url,
  KEY_OVERLAP_MS,
  type KeyKind,
  keyNoteHeader,
  keyNoteText,
  noteVerifier,
  openNote,
  type PublicKeyEntry,
  readKeyNote,
  signNote,
} from '@strata/receipts';
import { type CheckpointSigner, noteSigner } from '../log.ts';
import { KeyringError } from './signing-keys.ts';

/** Texts by id, seen by every node once `put` resolves. */
export interface KeyPlace {
  all(): Promise<ReadonlyMap<string, string>>;
  put(id: string, text: string): Promise<void>;
}

export interface PublishedKeysOptions {
  readonly origin: string;
  readonly kind: KeyKind;
  /** The key of the ledger that vouches for what this node publishes. */
  readonly signer: CheckpointSigner;
  /** Public keys of the ledger: what one of them signed is believed. */
  readonly trusted: () => readonly Uint8Array[];
  readonly place: KeyPlace;
}

export class PublishedKeys {
  readonly #options: PublishedKeysOptions;
  /** Never fewer: what was served once stays in the key set. */
  readonly #known = new Map<string, PublicKeyEntry>();
  /** Texts that were checked. */
  readonly #read = new Map<string, string>();
  /** Those in which another key vouches for one that is not retired, by the id of that one. */
  readonly #rotations = new Map<string, string>();

  constructor(options: PublishedKeysOptions) {
    this.#options = options;
  }

  /** Current keys first, then retired ones, the newest first: the same on every node. */
  get entries(): readonly PublicKeyEntry[] {
    return [...this.#known.values()].sort(
      (a, b) =>
        a.status.localeCompare(b.status) || b.not_before.localeCompare(a.not_before) || a.kid.localeCompare(b.kid),
    );
  }

  get rotations(): ReadonlyMap<string, string> {
    return this.#rotations;
  }

  /** Reads what other nodes have published. What no trusted key signed is left out. */
  async look(): Promise<void> {
    const texts = await this.#options.place.all();
    // A key of the ledger that was learned may vouch for another one.
    while (await this.#learnFrom(texts));
  }

  /** Lets every node know these keys; resolves before one of them may sign. */
  async publish(own: readonly PublicKeyEntry[]): Promise<void> {
    await this.look();
    for (const entry of own) {
      const known = this.#known.get(entry.kid);
      if (known && (known.not_after !== undefined || entry.not_after === undefined)) continue;
      await this.#options.place.put(idOf(this.#options.kind, entry), this.#sign(entry));
      this.#learn(entry);
    }
  }

  /** When a key was retired, as far as this node has looked. */
  retiredAt(keyId: string): string | undefined {
    return this.#known.get(keyId)?.not_after;
  }

  /** Throws KeyringError for a key that another node has retired and verifiers would not accept any more. */
  refuseRetired(keyId: string, now: Date, { overlapMs = KEY_OVERLAP_MS } = {}): void {
    const notAfter = this.retiredAt(keyId);
    if (notAfter === undefined || now.getTime() < Date.parse(notAfter) + overlapMs) return;
    throw new KeyringError(
      `the ${this.#options.kind} key ${keyId} was retired on ${notAfter} by a rotation on another node: give this node the newest keys folder`,
    );
  }

  /** False when nothing was new. */
  async #learnFrom(texts: ReadonlyMap<string, string>): Promise<boolean> {
    const { origin, kind, trusted } = this.#options;
    const verifiers = trusted().map((key) => noteVerifier(origin, key));
    const header = keyNoteHeader(kind, origin);
    let isNew = false;
    for (const [id, text] of texts) {
      // Those of the other kind are checked by whoever keeps them.
      if (this.#read.get(id) === text || !text.startsWith(header)) continue;
      const opened = await openNote(text, verifiers);
      const entry = opened.ok ? readKeyNote(opened.text, header) : undefined;
      if (!opened.ok || !entry || idOf(kind, entry) !== id) continue;
      this.#learn(entry);
      const isByAnother = encodeBase64Url(opened.signedBy.publicKey) !== entry.x;
      if (isByAnother && entry.status === 'current') this.#rotations.set(entry.kid, text);
      this.#read.set(id, text);
      isNew = true;
    }
    return isNew;
  }

  #learn(entry: PublicKeyEntry): void {
    // Whatever comes in which order: retired is retired.
    if (this.#known.get(entry.kid)?.not_after === undefined) this.#known.set(entry.kid, entry);
  }

  #sign(entry: PublicKeyEntry): string {
    const { origin, kind, signer } = this.#options;
    return signNote(keyNoteText(keyNoteHeader(kind, origin), entry), [noteSigner(origin, signer)]);
  }
}

/**
 * Receipt keys stand under their bare id, as they did before those of the ledger were published. That a key of the ledger is retired
 * stands beside what was said of it first: that is what the key before it vouches for.
 */
function idOf(kind: KeyKind, { kid, status }: PublicKeyEntry): string {
  if (kind === 'receipt') return kid;
  return status === 'retired' ? `ledger:${kid}:retired` : `ledger:${kid}`;
}
