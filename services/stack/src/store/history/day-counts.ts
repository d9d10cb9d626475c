// Counts scans and changes by UTC day as they are written, so that readers need not aggregate the history. SQL for both databases.
import { type RawBuilder, sql } from 'kysely';

const DAY_MS = sql.lit(86_400_000);
/** A reclassification by new rules is not a move of the domain. */
const moved = sql`(case when type = 'reclassified' then 0 else 1 end)`;

/** Adds the rows of `scans`, which have the columns of the table, to `scan_days`. */
export const countScanDays = (scans: RawBuilder<unknown>): RawBuilder<never> => sql`
  insert into scan_days (day, rulebook, scans, measured)
  select observed_at / ${DAY_MS}, rulebook, count(*), sum(case when state <> 'unmeasured' then 1 else 0 end)
  from ${scans} as counted where true group by 1, 2 order by 1, 2
  on conflict (day, rulebook) do update set
    scans = scan_days.scans + excluded.scans, measured = scan_days.measured + excluded.measured`;

/**
 * Adds the rows of `changes`, which have the columns of the table, to `change_days`, or takes them back: both providers of a
 * change are counted.
 */
export const countChangeDays = (
  changes: RawBuilder<unknown>,
  { isTakenBack = false }: { readonly isTakenBack?: boolean } = {},
): RawBuilder<never> => {
  const sum = (column: string) => sql`${sql.lit(isTakenBack ? -1 : 1)} * sum(${sql.ref(column)})`;
  return sql`
  insert into change_days (day, category, provider, gained, entered, lost, exited, migrated, reclassified)
  select confirmed_at / ${DAY_MS}, category, provider, ${sum('gained')}, ${sum('entered')}, ${sum('lost')}, ${sum('exited')},
    ${sum('migrated')}, ${sum('reclassified')}
  from (
    select confirmed_at, category, to_provider as provider, ${moved} as gained, ${moved} * is_entry as entered, 0 as lost,
      0 as exited, case when type = 'migrated' and from_provider is not null then 1 else 0 end as migrated,
      1 - ${moved} as reclassified
    from ${changes} as gains where to_provider is not null
    union all
    select confirmed_at, category, from_provider, 0, 0, ${moved}, ${moved} * is_exit, 0, 1 - ${moved}
    from ${changes} as losses where from_provider is not null
  ) as sides where true group by 1, 2, 3 order by 1, 2, 3
  on conflict (day, category, provider) do update set
    gained = change_days.gained + excluded.gained, entered = change_days.entered + excluded.entered,
    lost = change_days.lost + excluded.lost, exited = change_days.exited + excluded.exited,
    migrated = change_days.migrated + excluded.migrated,
    reclassified = change_days.reclassified + excluded.reclassified`;
};
