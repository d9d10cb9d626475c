// A parsed community set: technologies with patterns that can be run, and the report of what cannot be used.

import type { FingerprintPattern } from '../pattern/pattern.ts';
import type { CategoryNames } from './categories.ts';

/** The input that a pattern is matched against, named as in the format. */
export type Field = 'headers' | 'cookies' | 'meta' | 'scriptSrc' | 'html' | 'text' | 'url' | 'dns' | 'certIssuer';

export interface FieldPattern extends FingerprintPattern {
  readonly field: Field;
  /** Header or meta name, lower-case; cookie name as given; DNS record type; '' if the field has none. */
  readonly key: string;
}

export interface FingerprintTechnology {
  readonly name: string;
  /** The name as an id: `google-tag-manager`. */
  readonly slug: string;
  readonly website: string;
  /** CPE vendor and product, `f5:nginx`. */
  readonly product: string | null;
  readonly categories: readonly number[];
  readonly patterns: readonly FieldPattern[];
  readonly implies: readonly { readonly name: string; readonly confidence: number }[];
  /** One of these, or a technology of one of the categories, must be detected too. */
  readonly requires: readonly string[];
  readonly requiresCategory: readonly number[];
  readonly excludes: readonly string[];
}

/** A problem of one entry, or of one pattern of it. */
export interface SetProblem {
  readonly file: string;
  readonly technology: string;
  /** `headers.server`; '' for the complete entry. */
  readonly field: string;
  /** The refused pattern, truncated to 120 characters; '' for other problems. */
  readonly pattern: string;
  readonly problem: string;
}

/** Counts of what was read and what cannot be used. Lists are truncated to 1,000 members, counts are not. */
export interface LoadReport {
  readonly technologies: number;
  /** Technologies with a pattern that a passive scan can match. */
  readonly usable: number;
  readonly patterns: number;
  /** Patterns without a literal, which run against every value of their field. */
  readonly withoutLiteral: number;
  readonly refusedPatterns: number;
  /** Entries that violate the format, and members that it does not define. */
  readonly badEntries: number;
  readonly problems: readonly SetProblem[];
  /** Technologies by field that a passive scan cannot observe. */
  readonly unsupported: Readonly<Record<string, number>>;
  readonly unusable: readonly string[];
}

export interface FingerprintSet {
  readonly technologies: readonly FingerprintTechnology[];
  readonly categoryNames: CategoryNames;
  readonly report: LoadReport;
}

/** A name as an id: lower-case words joined by hyphens; '' for a name without letters or digits. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll('+', ' plus ')
    .replaceAll('#', ' sharp ')
    .replaceAll('&', ' and ')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}
