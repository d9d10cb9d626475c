// An advisory with all that is known of its exploitation, and what of it is kept in memory.
import type { Advisory, ExploitScore, KnownExploited } from './advisory.ts';
import { urgencyOf } from './priority.ts';

/** An advisory with what is known of its exploitation. */
export interface Assessed {
  readonly advisory: Advisory;
  readonly exploited: KnownExploited | null;
  readonly score: Omit<ExploitScore, 'cve'> | null;
}

/** An advisory as the index keeps it: without what only who reads it in full asks for. */
export interface Entry extends Omit<Assessed, 'advisory'> {
  readonly advisory: Omit<Advisory, 'claims' | 'summary' | 'urls'>;
  /** Its place in the lists; one whose claims change gets another. */
  readonly number: number;
  /** Ids of the known products that it names. */
  readonly products: readonly string[];
  /** `urgencyOf` it. */
  readonly urgency: number;
}

const TITLE_LENGTH = 120;

export function entryOf(
  { advisory, exploited, score }: Assessed,
  { number, products }: Pick<Entry, 'number' | 'products'>,
): Entry {
  const { claims: _claims, summary, urls: _urls, ...kept } = advisory;
  const title = kept.title ?? beginningOf(summary);
  const urgency = urgencyOf({ advisory, exploited, score });
  return { advisory: { ...kept, title }, exploited, score, number, products, urgency };
}

/** Of one that has no title, as long as no CNA has told of it. */
function beginningOf(summary: string | null): string | null {
  if (summary === null || summary.length <= TITLE_LENGTH) return summary;
  return `${summary.slice(0, TITLE_LENGTH).toWellFormed()}…`;
}

/** Every id of it, upper case. */
export const idsOf = ({ advisory }: Entry): string[] =>
  [advisory.id, ...advisory.aliases].map((id) => id.toUpperCase());
