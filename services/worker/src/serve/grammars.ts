// Rejects grammars that do not terminate: native code executes them, and one that loops costs all gateways the engine
// process.
import { EndlessGrammarError } from '@strata/engine';
import { bytesSha256 } from '@strata/inference';
import { forgetOldest } from '@strata/limits';
import { RequestFailure } from './failure.ts';

/** How long grammars are rejected from a gateway that sent such a grammar. */
const REFUSED_MS = 600_000;
const MAX_GATEWAYS = 1_024;
const MAX_GRAMMARS = 1_024;

const utf8 = new TextEncoder();

export class Grammars {
  readonly #nowMs: () => number;
  /** When grammars of a gateway are accepted again. */
  readonly #refused = new Map<string, number>();
  /** Digests of grammars that did not terminate: rejected from every gateway. */
  readonly #endless = new Set<string>();

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Runs work that executes a gateway's grammar, if any. Throws RequestFailure if the grammar is rejected. */
  async guard<T>(gateway: string, grammar: string | undefined, run: () => Promise<T>): Promise<T> {
    if (grammar === undefined) return run();
    const digest = bytesSha256(utf8.encode(grammar));
    if (this.#endless.has(digest))
      throw new RequestFailure('grammar-unusable', 'this grammar did not terminate before');
    if ((this.#refused.get(gateway) ?? 0) > this.#nowMs())
      throw new RequestFailure(
        'busy',
        'grammars of this gateway are rejected for a while, because one did not terminate',
      );
    try {
      return await run();
    } catch (error) {
      if (error instanceof EndlessGrammarError) this.#note(gateway, digest);
      throw error;
    }
  }

  #note(gateway: string, digest: string): void {
    this.#endless.add(digest);
    this.#refused.delete(gateway);
    this.#refused.set(gateway, this.#nowMs() + REFUSED_MS);
    forgetOldest(this.#endless, MAX_GRAMMARS);
    forgetOldest(this.#refused, MAX_GATEWAYS);
  }
}
