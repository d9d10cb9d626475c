// What an address chooses of the migrations, as the service is asked for it.
import type { StackInput } from '@strata/client';
import { type Category, categoryOf } from '../answer/categories.ts';

export const MIGRATIONS = '/stack/v1/stats/migrations';

/** A window by UTC days or by hours; neither is all that is kept. */
export interface Period {
  readonly days?: number;
  readonly hours?: number;
}

export interface MigrationFilter {
  readonly category: Category | undefined;
  /** Id, name or alias. */
  readonly provider: string | undefined;
  /** To the provider, or away from it; nothing without a provider. */
  readonly direction: 'in' | 'out' | undefined;
  /** The provider at the other end. */
  readonly other: string | undefined;
  readonly period: Period;
}

/** The window of an address without one: that of the flows, so that they and the list count the same. */
const USUAL: Period = { days: 30 };
export const EVER = 'all';

/** Periods to choose from. Hours are how the front page counts, days are whole ones. */
export const PERIODS: readonly Period[] = [{ hours: 24 }, { hours: 168 }, { days: 1 }, { days: 7 }, { days: 30 }, {}];

/** Words that mean nothing here choose nothing. */
export function filterOf(search: Readonly<Record<string, string>>): MigrationFilter {
  const provider = search.provider?.trim() || undefined;
  const { direction } = search;
  return {
    category: categoryOf(search.category),
    provider,
    direction: provider && (direction === 'in' || direction === 'out') ? direction : undefined,
    other: provider ? search.other?.trim() || undefined : undefined,
    period: periodOf(search),
  };
}

function periodOf({ days, hours }: Readonly<Record<string, string>>): Period {
  if (days === EVER) return {};
  const [inHours, inDays] = [wholeOf(hours, 1_440), wholeOf(days, 60)];
  if (inHours !== undefined) return { hours: inHours };
  return inDays === undefined ? USUAL : { days: inDays };
}

const wholeOf = (text: string | undefined, max: number): number | undefined => {
  const number = /^[1-9]\d{0,3}$/.test(text ?? '') ? Number(text) : undefined;
  return number !== undefined && number <= max ? number : undefined;
};

/** The words of an address for a period: undefined takes one out. */
export function wordsOf({ days, hours }: Period): { days: string | undefined; hours: string | undefined } {
  if (hours !== undefined) return { hours: String(hours), days: undefined };
  return { hours: undefined, days: days === undefined ? EVER : days === USUAL.days ? undefined : String(days) };
}

/** `the last 24 hours`, `7 days`; what is counted where no window was asked for are the usual days. */
export function periodName({ days, hours }: Period): string {
  if (hours !== undefined) return hours % 24 === 0 && hours > 24 ? `${hours / 24} × 24 hours` : `${hours} hours`;
  if (days === 1) return 'today (UTC)';
  return `${days ?? USUAL.days} days`;
}

/** The question for a page of the list. */
export function questionOf(
  { category, provider, direction, other, period }: MigrationFilter,
  page: { readonly limit: number; readonly offset: number },
): StackInput<typeof MIGRATIONS> & { readonly query: object } {
  const { limit, offset } = page;
  const query = { category, provider, direction, other, ...period, limit, offset: offset === 0 ? undefined : offset };
  return { query };
}
