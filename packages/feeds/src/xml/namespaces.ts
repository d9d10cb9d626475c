// The namespaces that a document declares, so that its elements go by the names of our vocabulary whatever their prefix.
import { CANONICAL_PREFIX } from './vocabulary.ts';

/** Namespaces of one document; more are left out. */
const MAX_PREFIXES = 64;

export class Namespaces {
  readonly #prefixes = new Map<string, string>();

  /** `xmlns:prefix="address"`; later declarations count, for whatever part of the document they are made. */
  declare(prefix: string, address: string): void {
    const canonical = CANONICAL_PREFIX.get(address.trim().toLowerCase());
    if (canonical !== undefined && this.#prefixes.size < MAX_PREFIXES) this.#prefixes.set(prefix, canonical);
  }

  /** The name of an element that declares its own default namespace: where it is one that we know by a prefix. */
  ownName(tag: string, address: string): string | null {
    const prefix = CANONICAL_PREFIX.get(address.trim().toLowerCase());
    return prefix === undefined || prefix === '' || tag.includes(':') ? null : `${prefix}:${tag}`;
  }

  /** The name without its prefix, or with the one that the vocabulary knows its namespace by. */
  canonical(tag: string, root: string | null): string {
    const colon = tag.indexOf(':');
    if (colon === -1) return tag;
    const prefix = tag.slice(0, colon);
    const canonical = this.#prefixes.get(prefix) ?? prefix;
    const local = tag.slice(colon + 1);
    return canonical === '' || (canonical === 'atom' && root === 'feed') ? local : `${canonical}:${local}`;
  }
}
