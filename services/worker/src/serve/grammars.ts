// Whose grammars are taken: native code steps through them, and one that runs on costs all gateways the engine's process.
import { EndlessGrammarError } from '@strata/engine';
import { bytesSha256 } from '@strata/inference';
import { RequestFailure } from './failure.ts';

/** So long no grammar is taken from who sent such a one. */
const REFUSED_MS = 600_000;
const MAX_GATEWAYS = 1_024;
const MAX_GRAMMARS = 1_024;

const utf8 = new TextEncoder();

export class Grammars {
  readonly #nowMs: () => number;
  /** When grammars are taken from each again. */
  readonly #refused = new Map<string, number>();
  /** Digests of those that ran on: not opened again, whoever sends them. */
  readonly #endless = new Set<string>();

  /** `nowMs`: a clock that only runs forward. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Runs what steps through a gateway's grammar, if there is one. Throws RequestFailure where it is not taken. */
  async guard<T>(gateway: string, grammar: string | undefined, run: () => Promise<T>): Promise<T> {
    if (grammar === undefined) return run();
    const digest = bytesSha256(utf8.encode(grammar));
    if (this.#endless.has(digest))
      throw new RequestFailure('grammar-unusable', 'this grammar has run on without end before');
    if ((this.#refused.get(gateway) ?? 0) > this.#nowMs())
      throw new RequestFailure('busy', 'no grammar is taken from this gateway for a while: one of its ran on');
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
    // Sets and maps keep the order in which things came.
    for (const kept of [this.#endless, this.#refused])
      for (const oldest of kept.keys()) {
        if (kept.size <= (kept === this.#endless ? MAX_GRAMMARS : MAX_GATEWAYS)) break;
        kept.delete(oldest);
      }
  }
}
