// The filter of the migrations page: from the URL to the request.
import type { Category, StackInput } from '@strata/client';
import { CATEGORIES } from '../links/categories.ts';
import { oneOf, type Search } from '../links/search-params.ts';

export const MIGRATIONS = '/stack/v1/stats/migrations';

/** A period in UTC days or in hours; without either, all stored migrations. */
export interface Period {
  readonly days?: number;
  readonly hours?: number;
}

export interface MigrationFilter {
  readonly category: Category | undefined;
  /** Id, name or alias. */
  readonly provider: string | undefined;
  /** To or from the provider; undefined without a provider. */
  readonly direction: 'in' | 'out' | undefined;
  /** The other provider of the migration. */
  readonly other: string | undefined;
  readonly period: Period;
}

/** The default period: that of the flows, so that flows and list have the same counts. */
const DEFAULT_PERIOD: Period = { days: 30 };
export const ALL_TIME = 'all';

/** Selectable periods. The home page counts in hours; days are complete UTC days. */
export const PERIODS: readonly Period[] = [{ hours: 24 }, { hours: 168 }, { days: 1 }, { days: 7 }, { days: 30 }, {}];

/** Invalid values are ignored. */
export function filterOf(search: Search): MigrationFilter {
  const provider = search.provider?.trim() || undefined;
  return {
    category: oneOf(search.category, CATEGORIES),
    provider,
    direction: provider ? oneOf(search.direction, ['in', 'out']) : undefined,
    other: provider ? search.other?.trim() || undefined : undefined,
    period: periodOf(search),
  };
}

function periodOf({ days, hours }: Search): Period {
  if (days === ALL_TIME) return {};
  const [inHours, inDays] = [integerOf(hours, 1_440), integerOf(days, 60)];
  if (inHours !== undefined) return { hours: inHours };
  return inDays === undefined ? DEFAULT_PERIOD : { days: inDays };
}

const integerOf = (text: string | undefined, max: number): number | undefined => {
  const number = /^[1-9]\d{0,3}$/.test(text ?? '') ? Number(text) : undefined;
  return number !== undefined && number <= max ? number : undefined;
};

/** The URL parameters of a period; undefined removes one. */
export function searchParamsOf({ days, hours }: Period): { days: string | undefined; hours: string | undefined } {
  if (hours !== undefined) return { hours: String(hours), days: undefined };
  return {
    hours: undefined,
    days: days === undefined ? ALL_TIME : days === DEFAULT_PERIOD.days ? undefined : String(days),
  };
}

/** `24 hours`, `7 days`; without a period, the default, which is what is counted. */
export function periodName({ days, hours }: Period): string {
  if (hours !== undefined) return hours % 24 === 0 && hours > 24 ? `${hours / 24} × 24 hours` : `${hours} hours`;
  if (days === 1) return 'today (UTC)';
  return `${days ?? DEFAULT_PERIOD.days} days`;
}

/** The query of a filter. */
export const queryOf = ({
  period,
  ...filter
}: MigrationFilter): NonNullable<StackInput<typeof MIGRATIONS>['query']> => ({
  ...filter,
  ...period,
});
