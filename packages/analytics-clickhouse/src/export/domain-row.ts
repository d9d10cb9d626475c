// The row of a domain's state, as the tables name things; and its state before, read from them.
import { categoryNumber, compareText, type IndexedDomain, type IndexedService, MAX_SERVICES } from '@strata/analytics';
import { mainRoleOf, type RoleOf, SECTORS } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { STATE_COLUMNS } from '../tables/tables.ts';

/** A row of `domains`, without sign. */
export interface StateRow {
  readonly id: number;
  readonly name: string;
  readonly tld: string;
  readonly state: string;
  readonly sector: string;
  readonly posture: number;
  readonly holders: number;
  readonly country: string;
  readonly score: number;
  readonly categories: readonly string[];
  readonly providers: readonly string[];
  readonly roles: readonly string[];
  readonly levels: readonly string[];
  readonly versions: readonly string[];
  readonly platforms: readonly (string | null)[];
  /** The state is that of this event of the log, or later. */
  readonly seq: number;
}

/** The score of a domain without one. */
export const NO_SCORE = 255;

export interface StateOptions {
  readonly seq: number;
  readonly roleOf: RoleOf;
  /** The state before, whose country an event of earlier versions leaves as it is. */
  readonly before?: StateRow | undefined;
}

export function stateRowOf(domain: IndexedDomain, { seq, roleOf, before }: StateOptions): StateRow {
  const { id, name, state, sector, posture, holders, score } = domain;
  const row = {
    ...{ id, name, state, posture, holders, seq },
    tld: name.slice(name.lastIndexOf('.') + 1),
    sector: (SECTORS as readonly string[]).includes(sector) ? sector : SECTORS[0],
    country: domain.country === undefined ? (before?.country ?? '') : countryOf(domain.country),
    score: score ?? NO_SCORE,
    categories: [] as string[],
    providers: [] as string[],
    roles: [] as string[],
    levels: [] as string[],
    versions: [] as string[],
    platforms: [] as (string | null)[],
  };
  const services = domain.services.toSorted(inOrder).slice(0, MAX_SERVICES);
  for (const [category, provider, level, version, platform] of services) {
    row.categories.push(category);
    row.providers.push(provider);
    row.roles.push(roleOf(category, provider) ?? mainRoleOf(category));
    row.levels.push(level);
    row.versions.push(version ?? '');
    row.platforms.push(platform ?? null);
  }
  return row;
}

/** As the index in memory orders them. */
function inOrder([a, x]: IndexedService, [b, y]: IndexedService): number {
  return categoryNumber(a) - categoryNumber(b) || compareText(x, y);
}

function countryOf(code: string | null): string {
  return code !== null && /^[a-z]{2}$/i.test(code) ? code.toLowerCase() : '';
}

type StateName = Exclude<keyof StateRow, 'id' | 'seq'>;
const STATE_NAMES = Object.keys(STATE_COLUMNS).filter(
  (name): name is StateName => !['id', 'seq', 'sign'].includes(name),
);

/** The current states of these domains, by id; unknown ones are missing. */
export const statesOf = (clickhouse: ClickHouse, ids: readonly number[]): Promise<Map<number, StateRow>> =>
  partsOfStates(clickhouse, ids, STATE_NAMES);

/** Only these columns of them: each is read from another file. */
export async function partsOfStates<Name extends StateName>(
  clickhouse: ClickHouse,
  ids: readonly number[],
  names: readonly Name[],
): Promise<Map<number, Pick<StateRow, Name | 'id' | 'seq'>>> {
  if (ids.length === 0) return new Map();
  const text = `SELECT id, seq, ${names.map((name) => `any(${name}) AS ${name}`).join(', ')}
    FROM domains WHERE id IN {ids:Array(UInt32)} GROUP BY id, seq HAVING sum(sign) > 0`;
  const rows = await clickhouse.query<Pick<StateRow, Name | 'id' | 'seq'>>(text, { ids });
  return new Map(rows.map((row) => [row.id, row]));
}
