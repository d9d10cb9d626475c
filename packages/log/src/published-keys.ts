// The receipt keys of all nodes, where each finds those of the others. Each is signed by the ledger's key: a database alone vouches
// for no key.
import {
  decodeBase64Url,
  KEY_OVERLAP_MS,
  noteVerifier,
  openNote,
  type PublicKeyEntry,
  publicKeyEntry,
  signNote,
} from '@strata/receipts';
import type { CheckpointKeys } from './shared-head.ts';
import { KeyringError } from './signing-keys.ts';

/** Texts by key id, seen by every node once `put` resolves. */
export interface KeyPlace {
  all(): Promise<ReadonlyMap<string, string>>;
  put(keyId: string, text: string): Promise<void>;
}

export interface PublishedKeysOptions {
  readonly origin: string;
  readonly checkpointKeys: CheckpointKeys;
  readonly place: KeyPlace;
}

export class PublishedKeys {
  readonly #options: PublishedKeysOptions;
  /** Never fewer: what was served once stays in the key set. */
  readonly #known = new Map<string, PublicKeyEntry>();
  /** Texts that were checked. */
  readonly #read = new Map<string, string>();

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

  /** Reads what other nodes have published. What no ledger key of this node signed is left out. */
  async look(): Promise<void> {
    const { origin, checkpointKeys, place } = this.#options;
    const verifiers = checkpointKeys.publicKeys().map((key) => noteVerifier(origin, key));
    for (const [keyId, text] of await place.all()) {
      if (this.#read.get(keyId) === text) continue;
      const opened = await openNote(text, verifiers);
      const entry = opened.ok ? entryOf(opened.text, origin) : undefined;
      if (entry?.kid !== keyId) continue;
      this.#learn(entry);
      this.#read.set(keyId, text);
    }
  }

  /** Lets every node know these keys; resolves before one of them may sign. */
  async publish(own: readonly PublicKeyEntry[]): Promise<void> {
    await this.look();
    for (const entry of own) {
      const known = this.#known.get(entry.kid);
      if (known && (known.not_after !== undefined || entry.not_after === undefined)) continue;
      await this.#options.place.put(entry.kid, this.#sign(entry));
      this.#learn(entry);
    }
  }

  /** Throws KeyringError for a key that another node has retired and verifiers would not accept any more. */
  refuseRetired(keyId: string, now: Date, { overlapMs = KEY_OVERLAP_MS } = {}): void {
    const notAfter = this.#known.get(keyId)?.not_after;
    if (notAfter === undefined || now.getTime() < Date.parse(notAfter) + overlapMs) return;
    throw new KeyringError(
      `the receipt key ${keyId} was retired on ${notAfter} by a rotation on another node: give this node the newest keys folder`,
    );
  }

  #learn(entry: PublicKeyEntry): void {
    // Whatever comes in which order: retired is retired.
    if (this.#known.get(entry.kid)?.not_after === undefined) this.#known.set(entry.kid, entry);
  }

  #sign({ x, not_before, not_after }: PublicKeyEntry): string {
    const { origin, checkpointKeys } = this.#options;
    const { publicKey } = checkpointKeys.signer;
    const text = `${firstLine(origin)}\n${JSON.stringify({ x, not_before, not_after })}\n`;
    return signNote(text, [{ name: origin, publicKey, sign: (bytes) => checkpointKeys.signer.sign(bytes) }]);
  }
}

/** No checkpoint begins so: its first line is the origin. */
const firstLine = (origin: string): string => `receipt key of ${origin}`;

function entryOf(text: string, origin: string): PublicKeyEntry | undefined {
  const [first, json = ''] = text.split('\n');
  if (first !== firstLine(origin)) return undefined;
  // Of a form that only a ledger key of ours signs.
  const { x, not_before, not_after } = JSON.parse(json) as Pick<PublicKeyEntry, 'x' | 'not_before' | 'not_after'>;
  const life = not_after === undefined ? ({ status: 'current' } as const) : ({ status: 'retired', not_after } as const);
  return publicKeyEntry(decodeBase64Url(x) ?? new Uint8Array(), { not_before, ...life });
}
