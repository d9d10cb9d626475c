// A query over the domains of the index, as data; docs/query-language.md has its text form.
import type { Category, Kind } from '@strata/detect';
import type { TimeKind } from '../columns/column-page.ts';

export type Query =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Query[] }
  | { readonly kind: 'not'; readonly of: Query }
  | Condition;

/** A condition on one domain. */
export type Condition =
  /** Any of these numbers of one kind of term, as the index numbers them. */
  | { readonly kind: 'terms'; readonly of: IndexedTerm; readonly numbers: readonly number[] }
  /** A provider, or all whose id begins with the text; in one category or any. */
  | { readonly kind: 'provider'; readonly id: string; readonly isPrefix: boolean; readonly category?: Category }
  | { readonly kind: 'tld'; readonly tld: string; readonly isPrefix: boolean }
  /** A shown version of a provider: any, or within this bound. */
  | { readonly kind: 'version'; readonly id: string; readonly bound?: VersionBound }
  | { readonly kind: 'name'; readonly part: string; readonly at: 'anywhere' | 'start' | 'end' | 'exact' }
  /** A time in milliseconds since the epoch, both ends included. */
  | { readonly kind: 'time'; readonly of: TimeKind; readonly from: number; readonly to: number };

export interface VersionBound {
  readonly sign: '<' | '<=' | '=' | '>=' | '>';
  readonly version: string;
}

export type IndexedTerm = 'category' | 'role' | 'state' | 'sector' | 'level' | 'flag' | 'score' | 'country';

/** A value as written. */
export interface QueryValue {
  readonly text: string;
  readonly start: number;
  /** Without wildcards and comparisons. */
  readonly isQuoted: boolean;
  /** The ends of a range. */
  readonly ends?: readonly [from: string, to: string];
}

/** The names and times that a query refers to, from outside of the index. */
export interface QueryNames {
  /** The id of a provider by its id, name or alias, case-insensitive. */
  providerId(text: string): string | undefined;
  /** The name of the most similar provider. */
  nearestProvider(text: string): string | undefined;
  /** Ids of the providers of a kind. */
  providersOfKind(kind: Kind): readonly string[];
  /** The name that was probably meant. */
  nearest(text: string, names: readonly string[]): string | undefined;
  /** The conditions of a saved query; the position of its name. Throws QueryError for an unknown one. */
  segment(name: string, start: number): Query;
  /** A part of a domain name as in the index: lower-case, A-labels. */
  asciiPart(text: string): string;
  /**
   * Milliseconds since the epoch of a date, a time with a zone, or an age before now; of a date its first moment, or its
   * last one with `isEnd`. Undefined for another text.
   */
  momentOf(text: string, isEnd: boolean): number | undefined;
}

/** A query that cannot be evaluated. The message is for its author. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  /** Where the problem begins: UTF-16 units before it. */
  readonly position: number;
  /** The known name that was probably meant. */
  readonly nearest: string | undefined;

  constructor(message: string, position: number, nearest?: string) {
    super(nearest === undefined ? message : `${message}; did you mean ${nearest}?`);
    this.position = position;
    this.nearest = nearest;
  }
}
