// What community sets hold once they are read: technologies with patterns that can be run, and the report of what cannot.

import type { FingerprintPattern } from '../pattern/pattern.ts';
import type { CategoryNames } from './categories.ts';

/** Where a pattern is looked for, in the words of the format. */
export type Field = 'headers' | 'cookies' | 'meta' | 'scriptSrc' | 'html' | 'text' | 'url' | 'dns' | 'certIssuer';

export interface FieldPattern extends FingerprintPattern {
  readonly field: Field;
  /** Header, meta or cookie name, lower-case, or DNS record type; '' where the field has none. */
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
  /** Any of these, or a technology of any of the categories, must be there too. */
  readonly requires: readonly string[];
  readonly requiresCategory: readonly number[];
  readonly excludes: readonly string[];
}

/** Told of one entry, or one pattern of it. */
export interface SetProblem {
  readonly file: string;
  readonly technology: string;
  /** `headers.server`; '' for the whole entry. */
  readonly field: string;
  /** The pattern that is refused, cut to 120 characters; '' for other problems. */
  readonly pattern: string;
  readonly problem: string;
}

/** What was read, and what of it cannot be used. Lists are cut to 1,000 members, the counts are whole. */
export interface LoadReport {
  readonly technologies: number;
  /** With a pattern that a passive scan can see. */
  readonly usable: number;
  readonly patterns: number;
  /** Of them those without a literal, which are run against everything of their field. */
  readonly withoutLiteral: number;
  readonly refusedPatterns: number;
  /** Entries that are not as the format says, members that it does not have. */
  readonly badEntries: number;
  readonly problems: readonly SetProblem[];
  /** Technologies by field that a passive scan cannot see. */
  readonly unsupported: Readonly<Record<string, number>>;
  readonly unusable: readonly string[];
}

export interface FingerprintSet {
  readonly technologies: readonly FingerprintTechnology[];
  readonly categoryNames: CategoryNames;
  readonly report: LoadReport;
}

/** A name as an id: lower-case words joined by hyphens; '' for a name without letters and digits. */
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
