// What an address chooses of the migrations. Category is the service's to filter by; the rest is done on its answer.
import type { Flow, Migration } from '@strata/client';
import { type Category, categoryOf } from '../categories.ts';

const DAY_MS = 86_400_000;
/** The window of the API's flows. */
export const WINDOW_DAYS = 30;

export interface MigrationFilter {
  readonly category: Category | undefined;
  /** Id or name. */
  readonly provider: string | undefined;
  /** To the provider, or away from it; nothing without a provider. */
  readonly direction: 'in' | 'out' | undefined;
  /** The provider at the other end. */
  readonly other: string | undefined;
  readonly isRecent: boolean;
}

/** Words that mean nothing here choose nothing. */
export function filterOf(search: Readonly<Record<string, string>>): MigrationFilter {
  const provider = search.provider?.trim() || undefined;
  const { direction } = search;
  return {
    category: categoryOf(search.category),
    provider,
    direction: provider && (direction === 'in' || direction === 'out') ? direction : undefined,
    other: provider ? search.other?.trim() || undefined : undefined,
    isRecent: search.days === String(WINDOW_DAYS),
  };
}

type Move = Pick<Migration, 'category' | 'from' | 'to' | 'from_id' | 'to_id'>;

/** The answer's migrations and flows that the filter leaves. */
export function chosen(
  { migrations, flows }: { readonly migrations: readonly Migration[]; readonly flows: readonly Flow[] },
  filter: MigrationFilter,
  now: number,
): { readonly migrations: readonly Migration[]; readonly flows: readonly Flow[] } {
  // As the API counts: whole UTC days, today's among them.
  const since = (Math.floor(now / DAY_MS) - WINDOW_DAYS + 1) * DAY_MS;
  const isAsked = (move: Move) => matches(move, filter);
  return {
    migrations: migrations.filter(
      (move) => isAsked(move) && (!filter.isRecent || Date.parse(move.confirmed_at) >= since),
    ),
    flows: flows.filter(isAsked),
  };
}

function matches(move: Move, { category, provider, direction, other }: MigrationFilter): boolean {
  if (category !== undefined && move.category !== category) return false;
  if (provider === undefined) return true;
  const from = { id: move.from_id, name: move.from };
  const to = { id: move.to_id, name: move.to };
  const isOther = (end: End) => other === undefined || isCalled(end, other);
  return (
    (direction !== 'in' && isCalled(from, provider) && isOther(to)) ||
    (direction !== 'out' && isCalled(to, provider) && isOther(from))
  );
}

interface End {
  readonly id: string | null;
  readonly name: string | null;
}

function isCalled({ id, name }: End, word: string): boolean {
  const wanted = word.toLowerCase();
  return id === wanted || name?.toLowerCase() === wanted;
}

/** Every provider that stands in a migration, by its id, A first. */
export function providersOf(migrations: readonly Migration[]): readonly (readonly [string, string])[] {
  const names = new Map<string, string>();
  for (const { from, from_id, to, to_id } of migrations) {
    if (from_id !== null && from !== null) names.set(from_id, from);
    if (to_id !== null && to !== null) names.set(to_id, to);
  }
  return [...names].toSorted(([, a], [, b]) => a.localeCompare(b));
}
