// The published public keys of all nodes, for receipts and for the ledger. Each is signed by a key of the ledger, so that write access
// to the database alone is not enough to add a key.
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
import type { KeyStorage } from '../rows/ledger-tables.ts';
import { KeyringError } from './signing-keys.ts';

export interface PublishedKeysOptions {
  readonly origin: string;
  readonly kind: KeyKind;
  /** The ledger key that signs what this node publishes. */
  readonly signer: CheckpointSigner;
  /** Public keys of the ledger whose signatures are trusted. */
  readonly trusted: () => readonly Uint8Array[];
  readonly storage: KeyStorage;
}

export class PublishedKeys {
  readonly #options: PublishedKeysOptions;
  /** Grows only: a published key stays in the key set. */
  readonly #known = new Map<string, PublicKeyEntry>();
  /** Verified texts. */
  readonly #read = new Map<string, string>();
  /** Notes in which another key vouches for a current key, by the id of that key. */
  readonly #rotations = new Map<string, string>();

  constructor(options: PublishedKeysOptions) {
    this.#options = options;
  }

  /** Current keys first, then retired ones, newest first; the same on every node. */
  get entries(): readonly PublicKeyEntry[] {
    return [...this.#known.values()].sort(
      (a, b) =>
        a.status.localeCompare(b.status) || b.not_before.localeCompare(a.not_before) || a.kid.localeCompare(b.kid),
    );
  }

  get rotations(): ReadonlyMap<string, string> {
    return this.#rotations;
  }

  /** Reads the keys that other nodes have published. Ignores texts that no trusted key signed. */
  async refresh(): Promise<void> {
    const texts = await this.#options.storage.all();
    // A newly trusted ledger key may vouch for another one.
    while (await this.#addFrom(texts));
  }

  /** Publishes keys to every node; must resolve before one of them signs. */
  async publish(own: readonly PublicKeyEntry[]): Promise<void> {
    await this.refresh();
    for (const entry of own) {
      const known = this.#known.get(entry.kid);
      if (known && (known.not_after !== undefined || entry.not_after === undefined)) continue;
      await this.#options.storage.put(idOf(this.#options.kind, entry), this.#sign(entry));
      this.#add(entry);
    }
  }

  /** When a key was retired, as of the last refresh. */
  retiredAt(keyId: string): string | undefined {
    return this.#known.get(keyId)?.not_after;
  }

  /** Throws KeyringError if another node has retired the key and verifiers would reject it. */
  refuseRetired(keyId: string, now: Date, { overlapMs = KEY_OVERLAP_MS } = {}): void {
    const notAfter = this.retiredAt(keyId);
    if (notAfter === undefined || now.getTime() < Date.parse(notAfter) + overlapMs) return;
    throw new KeyringError(
      `the ${this.#options.kind} key ${keyId} was retired on ${notAfter} by a rotation on another node: give this node the newest keys folder`,
    );
  }

  /** Returns whether anything was added. */
  async #addFrom(texts: ReadonlyMap<string, string>): Promise<boolean> {
    const { origin, kind, trusted } = this.#options;
    const verifiers = trusted().map((key) => noteVerifier(origin, key));
    const header = keyNoteHeader(kind, origin);
    let isNew = false;
    for (const [id, text] of texts) {
      // Texts of the other kind are ignored.
      if (this.#read.get(id) === text || !text.startsWith(header)) continue;
      const opened = await openNote(text, verifiers);
      const entry = opened.ok ? readKeyNote(opened.text, header) : undefined;
      if (!opened.ok || !entry || idOf(kind, entry) !== id) continue;
      this.#add(entry);
      const isByAnother = encodeBase64Url(opened.signedBy.publicKey) !== entry.x;
      if (isByAnother && entry.status === 'current') this.#rotations.set(entry.kid, text);
      this.#read.set(id, text);
      isNew = true;
    }
    return isNew;
  }

  #add(entry: PublicKeyEntry): void {
    // Independent of the order of texts: a retired key stays retired.
    if (this.#known.get(entry.kid)?.not_after === undefined) this.#known.set(entry.kid, entry);
  }

  #sign(entry: PublicKeyEntry): string {
    const { origin, kind, signer } = this.#options;
    return signNote(keyNoteText(keyNoteHeader(kind, origin), entry), [noteSigner(origin, signer)]);
  }
}

/**
 * Receipt keys use the plain key id, as in versions that published only them. The retirement of a ledger key has an id of its own,
 * so that the first text remains, by which the previous key vouches for it.
 */
function idOf(kind: KeyKind, { kid, status }: PublicKeyEntry): string {
  if (kind === 'receipt') return kid;
  return status === 'retired' ? `ledger:${kid}:retired` : `ledger:${kid}`;
}
