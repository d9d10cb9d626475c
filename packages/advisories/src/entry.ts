// The entry of an advisory in the index: what is kept in memory, its priority, and the order of lists.
import type { Advisory, ExploitScore, KnownExploited } from './advisory.ts';

/** An advisory with data on its exploitation. */
export interface Assessed {
  readonly advisory: Advisory;
  readonly exploited: KnownExploited | null;
  readonly score: Omit<ExploitScore, 'cve'> | null;
}

/** An advisory in the index, without the parts that only a detail view needs. */
export interface Entry extends Omit<Assessed, 'advisory'> {
  readonly advisory: Omit<Advisory, 'claims' | 'summary' | 'urls'>;
  /** Its number in the lists; an advisory whose claims change gets a new one. */
  readonly number: number;
  /** Ids of the known products that it names. */
  readonly products: readonly string[];
  /** The result of `urgencyOf`. */
  readonly urgency: number;
}

const TITLE_LENGTH = 120;
const EPSS_STEPS = 100_000;
const DAY_MS = 86_400_000;

export function entryOf(
  { advisory, exploited, score }: Assessed,
  { number, products }: Pick<Entry, 'number' | 'products'>,
): Entry {
  const { claims: _claims, summary, urls: _urls, ...kept } = advisory;
  const title = kept.title ?? beginningOf(summary);
  const urgency = urgencyOf({ advisory, exploited, score });
  return { advisory: { ...kept, title }, exploited, score, number, products, urgency };
}

/** The title of an advisory without one, as long as no CNA has published it. */
function beginningOf(summary: string | null): string | null {
  if (summary === null || summary.length <= TITLE_LENGTH) return summary;
  return `${summary.slice(0, TITLE_LENGTH).toWellFormed()}…`;
}

/** All its ids, upper case. */
export const idsOf = ({ advisory }: Entry): string[] =>
  [advisory.id, ...advisory.aliases].map((id) => id.toUpperCase());

/**
 * A number that grows with urgency: exploited (1 bit), EPSS to five decimals (17), CVSS to one (7), day of publication
 * (16). Unknown values count as the minimum.
 */
export function urgencyOf({ advisory, exploited, score }: Assessed): number {
  const epss = Math.round(clamp(score?.epss ?? 0, 1) * EPSS_STEPS);
  const cvss = Math.round(clamp(advisory.cvss?.score ?? 0, 10) * 10);
  const day = Math.floor(clamp(Date.parse(advisory.published) / DAY_MS, 65_535));
  return (((exploited ? 1 : 0) * 2 ** 17 + epss) * 2 ** 7 + cvss) * 2 ** 16 + day;
}

/** The most urgent first; equal ones by id. */
export function byUrgency(a: Entry, b: Entry): number {
  return b.urgency - a.urgency || (a.advisory.id < b.advisory.id ? -1 : a.advisory.id === b.advisory.id ? 0 : 1);
}

/** The index of an entry in a list in that order, or its insertion point. */
export function indexOfEntry(sorted: readonly Entry[], entry: Entry): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byUrgency(sorted[middle] as Entry, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export type Priority = 'act' | 'attend' | 'track';

/**
 * `act`: exploited, or exploitation is as likely as not within 30 days; `attend`: a tenth as likely, or critical;
 * `track` otherwise.
 */
export function priorityOf({ advisory, exploited, score }: Pick<Entry, 'advisory' | 'exploited' | 'score'>): Priority {
  const epss = score?.epss ?? 0;
  if (exploited || epss >= 0.5) return 'act';
  return epss >= 0.1 || advisory.severity === 'critical' ? 'attend' : 'track';
}

const clamp = (value: number, max: number): number => (value > 0 ? Math.min(value, max) : 0);
