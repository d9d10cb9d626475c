// Adoption by day, and migrations.
import { type AdoptionHistory, curveOf, type Flow, type Flows, type FlowsOptions } from '@strata/analytics';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { asked } from './ask.ts';
import { joined, raw, type Sql, sql } from './sql.ts';

interface MovedRow {
  readonly day: number;
  readonly gained: number;
  readonly lost: number;
}

export async function adoptionIn(
  clickhouse: ClickHouse,
  provider: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<AdoptionHistory> {
  const [now] = await asked<{ n: number }>(
    clickhouse,
    sql`SELECT sum(domains) AS n FROM provider_counts WHERE provider = ${provider}`,
  );
  const moved = await asked<MovedRow>(
    clickhouse,
    sql`SELECT day, sum(entered) AS gained, sum(exited) AS lost FROM change_days
      WHERE provider = ${provider} AND day >= ${from} AND day <= ${to} GROUP BY day`,
  );
  const byDay = new Map(moved.map((row) => [row.day, row]));
  const scanned = await asked<{ day: number }>(
    clickhouse,
    sql`SELECT day FROM scan_days GROUP BY day HAVING sum(measured) > 0 ORDER BY day`,
  );
  const days = scanned.map(({ day }) => day);
  return {
    curve: curveOf(now?.n ?? 0, { from, to }, (day) => byDay.get(day) ?? { gained: 0, lost: 0 }),
    scannedDays: days.filter((day) => day >= from && day <= to),
    firstScannedDay: days[0],
  };
}

type FlowRow = Flow & { readonly total: number; readonly pairs: number };

export async function migrationsIn(
  clickhouse: ClickHouse,
  { since, until, category, provider, direction, other, limit }: Omit<FlowsOptions, 'within'>,
  within: Sql | undefined,
): Promise<Flows> {
  const end = (own: string, far: string) => {
    const isOwn = sql`${raw(own)} = ${provider ?? ''}`;
    return other === undefined ? isOwn : sql`(${isOwn} AND ${raw(far)} = ${other})`;
  };
  const ends = [
    ...(direction === 'out' ? [] : [end('to_provider', 'from_provider')]),
    ...(direction === 'in' ? [] : [end('from_provider', 'to_provider')]),
  ];
  const conditions = [
    sql`confirmed_at >= ${since} AND confirmed_at <= ${until}`,
    ...(category === undefined ? [] : [sql`category = ${category}`]),
    ...(provider === undefined ? [] : [sql`(${joined(ends, raw(' OR '))})`]),
    ...(within ? [sql`bitmapContains(${within}, domain_id)`] : []),
  ];
  const rows = await asked<FlowRow>(
    clickhouse,
    sql`SELECT category, from, to, domains, sum(domains) OVER () AS total, count() OVER () AS pairs FROM (
        SELECT toString(category) AS category, toString(from_provider) AS from, toString(to_provider) AS to,
          count() AS domains
        FROM migrations WHERE ${joined(conditions, raw(' AND '))} GROUP BY category, from, to)
      ORDER BY domains DESC, category, from, to LIMIT ${limit}`,
  );
  const [first] = rows;
  return {
    total: first?.total ?? 0,
    pairs: first?.pairs ?? 0,
    flows: rows.map(({ category, from, to, domains }) => ({ category, from, to, domains })),
  };
}
