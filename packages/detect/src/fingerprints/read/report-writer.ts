// Counts what is read of community sets, and keeps the first problems.
import type { FieldPattern, LoadReport, SetProblem } from './fingerprint-set.ts';

const MAX_KEPT = 1000;
const MAX_SHOWN_LENGTH = 120;

interface Location {
  readonly file: string;
  readonly technology: string;
  readonly field?: string;
  readonly pattern?: string;
}

export class ReportWriter {
  #technologies = 0;
  #usable = 0;
  #patterns = 0;
  #withoutLiteral = 0;
  #refusedPatterns = 0;
  #badEntries = 0;
  readonly #problems: SetProblem[] = [];
  readonly #unsupported = new Map<string, number>();
  readonly #unusable: string[] = [];

  technology(): void {
    this.#technologies += 1;
  }

  /** Counts the usable patterns of one technology. */
  patterns(patterns: readonly FieldPattern[], technology: string): void {
    this.#patterns += patterns.length;
    if (patterns.length > 0) this.#usable += 1;
    else if (this.#unusable.length < MAX_KEPT) this.#unusable.push(technology);
  }

  withoutLiteral(): void {
    this.#withoutLiteral += 1;
  }

  unsupported(field: string): void {
    this.#unsupported.set(field, (this.#unsupported.get(field) ?? 0) + 1);
  }

  badEntry(location: Location, problem: string): void {
    this.#badEntries += 1;
    this.#keep(location, problem);
  }

  refusedPattern(location: Location, problem: string): void {
    this.#refusedPatterns += 1;
    this.#keep(location, problem);
  }

  finish(): LoadReport {
    return {
      technologies: this.#technologies,
      usable: this.#usable,
      patterns: this.#patterns,
      withoutLiteral: this.#withoutLiteral,
      refusedPatterns: this.#refusedPatterns,
      badEntries: this.#badEntries,
      problems: this.#problems,
      unsupported: Object.fromEntries([...this.#unsupported].sort()),
      unusable: this.#unusable,
    };
  }

  #keep({ file, technology, field = '', pattern = '' }: Location, problem: string): void {
    if (this.#problems.length >= MAX_KEPT) return;
    const [name, shown] = [technology, pattern].map((text) => text.slice(0, MAX_SHOWN_LENGTH));
    this.#problems.push({ file, technology: name ?? '', field, pattern: shown ?? '', problem });
  }
}
