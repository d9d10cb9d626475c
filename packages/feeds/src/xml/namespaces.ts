// The declared namespaces of a document: maps its prefixes to the canonical ones of the vocabulary.
import { CANONICAL_PREFIX } from './vocabulary.ts';

/** Namespaces per document; further ones are ignored. */
const MAX_PREFIXES = 64;

export class Namespaces {
  readonly #prefixes = new Map<string, string>();

  /** `xmlns:prefix="address"`; the latest declaration wins, regardless of its scope. */
  declare(prefix: string, address: string): void {
    const canonical = CANONICAL_PREFIX.get(address.trim().toLowerCase());
    if (canonical !== undefined && this.#prefixes.size < MAX_PREFIXES) this.#prefixes.set(prefix, canonical);
  }

  /** The canonical name of an element that declares its own default namespace; null if the namespace is unknown. */
  ownName(tag: string, address: string): string | null {
    const prefix = CANONICAL_PREFIX.get(address.trim().toLowerCase());
    return prefix === undefined || prefix === '' || tag.includes(':') ? null : `${prefix}:${tag}`;
  }

  /** The name with the canonical prefix of its namespace, or without one. */
  canonical(tag: string, root: string | null): string {
    const colon = tag.indexOf(':');
    if (colon === -1) return tag;
    const prefix = tag.slice(0, colon);
    const canonical = this.#prefixes.get(prefix) ?? prefix;
    const local = tag.slice(colon + 1);
    return canonical === '' || (canonical === 'atom' && root === 'feed') ? local : `${canonical}:${local}`;
  }
}
