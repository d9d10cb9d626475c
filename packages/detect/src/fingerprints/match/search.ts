// Runs patterns on texts, with a limit on the work that one domain's evidence may cause.
import type { CompiledSets } from '../compile/compile-sets.ts';
import type { OwnedPattern, PatternIndex } from '../compile/pattern-index.ts';
import type { EngineMemory } from '../pattern/engine-memory.ts';
import { type LinearRegex, versionShown } from '../pattern/pattern.ts';
import type { Field } from '../read/fingerprint-set.ts';

/**
 * Worst-case steps of the engine, a pattern's size times the text's length: about a second at the engine's slowest. Real
 * pages take a hundredth. The last fields, page source and text, are left out when the limit is reached.
 */
export const MAX_STEPS = 64_000_000;

/** Longer values come from pages, and only an excerpt is shown. */
const MAX_UNCUT_LENGTH = 2048;
/** Characters around a literal that are searched for the excerpt. */
const EXCERPT_REACH = 256;
const NO_VERSION = { version: null };

export interface Match extends OwnedPattern {
  /** The matched value, or the matching excerpt of a page. */
  readonly value: string;
  readonly version: string | null;
}

/** One domain's search. */
export class Search {
  readonly #patterns: PatternIndex;
  readonly #memory: EngineMemory;
  readonly #leftOut = new Set<OwnedPattern>();
  #stepsLeft = MAX_STEPS;

  constructor({ patterns, memory }: Pick<CompiledSets, 'patterns' | 'memory'>) {
    this.#patterns = patterns;
    this.#memory = memory;
  }

  has(field: Field): boolean {
    return this.#patterns.has(field);
  }

  /** Worst-case steps so far. */
  get steps(): number {
    return MAX_STEPS - this.#stepsLeft;
  }

  /** Patterns that were not run, or not for their version, because of the limit. */
  get leftOut(): Iterable<OwnedPattern> {
    return this.#leftOut;
  }

  /** Matches of the patterns for a field and a name in it. */
  matches(field: Field, key: string, text: string): Match[] {
    const found: Match[] = [];
    for (const owned of this.#patterns.candidates(field, key, text)) {
      const ran = this.#run(owned, text);
      if (ran) found.push({ ...owned, value: this.#excerpt(owned, text), ...ran });
    }
    return found;
  }

  /** As `matches` over many texts: the first match of each pattern, or the first that shows a version. */
  firstMatches(field: Field, texts: Iterable<string>): Match[] {
    const found = new Map<OwnedPattern, Match>();
    for (const text of texts) {
      for (const owned of this.#patterns.candidates(field, '', text)) {
        const known = found.get(owned);
        if (known && (known.version !== null || owned.pattern.version === undefined)) continue;
        const ran = this.#run(owned, text);
        if (ran && (!known || ran.version !== null)) found.set(owned, { ...owned, value: text, ...ran });
      }
    }
    return [...found.values()];
  }

  /**
   * For a long text, the part that matched near a literal of the pattern, or its beginning; a shorter text is returned
   * unchanged.
   */
  #excerpt({ pattern: { regex } }: OwnedPattern, text: string): string {
    if (text.length <= MAX_UNCUT_LENGTH || regex === null) return text;
    const lower = text.toLowerCase();
    const at = Math.min(
      ...(regex.literals ?? []).map((literal) => lower.indexOf(literal)).filter((index) => index >= 0),
    );
    if (!Number.isFinite(at)) return text.slice(0, EXCERPT_REACH);
    const around = text.slice(Math.max(0, at - EXCERPT_REACH), at + EXCERPT_REACH);
    this.#spend(regex, regex.size * around.length);
    return regex.captures(around)?.[0] || text.slice(at, at + EXCERPT_REACH);
  }

  /** Null without a match. */
  #run(owned: OwnedPattern, text: string): Pick<Match, 'version'> | null {
    const { regex, version } = owned.pattern;
    if (regex === null) return NO_VERSION;
    const steps = regex.size * (text.length + 1);
    if (steps > this.#stepsLeft) {
      this.#leftOut.add(owned);
      return null;
    }
    this.#spend(regex, steps);
    if (!regex.test(text)) return null;
    if (version === undefined) return NO_VERSION;
    if (steps > this.#stepsLeft) {
      this.#leftOut.add(owned);
      return NO_VERSION;
    }
    this.#spend(regex, steps);
    return { version: versionShown(version, regex.captures(text) ?? []) };
  }

  #spend(regex: LinearRegex, steps: number): void {
    this.#stepsLeft -= steps;
    this.#memory.count(regex, steps);
  }
}
