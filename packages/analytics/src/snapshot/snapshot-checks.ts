// Checks of a snapshot's consistency: every reference between its columns is valid.
import { CATEGORIES, SECTORS } from '@strata/detect';
import type { BuildWord } from '../columns/builds.ts';
import { CODED_COLUMNS, TIME_COLUMNS } from '../columns/column-page.ts';
import { levelOf, NO_SCORE, placementOf } from '../columns/domain-columns.ts';
import type { PackedRows, RowEnds, RowValues } from '../columns/packed-rows.ts';
import { PAGE_SIZE, type Pages, pageOf, rowOf } from '../columns/pages.ts';
import { COUNTRIES, LEVELS, MAX_SCORE, STATES } from '../columns/terms.ts';
import { type ChangeHistory, SERIES_WIDTHS } from '../history/change-history.ts';
import { numbersOf } from '../history/migration-log.ts';
import { SCAN_FIELDS } from '../history/scan-days.ts';
import type { IndexPosition } from '../index/domain-index.ts';
import { TALLY_LENGTHS, type TallyColumns } from '../index/tallies.ts';
import { codedOf, type PageColumns } from './snapshot-page.ts';

/** Numbers of domains have 31 bits. */
const MAX_PAGES = 2 ** 31 / PAGE_SIZE;

/** What is not by domain. */
export interface Head {
  readonly version: number;
  readonly storeId: string;
  readonly words: string;
  readonly position: IndexPosition;
  readonly providers: readonly string[];
  readonly placements: readonly (readonly [category: number, provider: number])[];
  /** By placement. */
  readonly roles: readonly number[];
  /** Top-level domains, by the number of their set. */
  readonly tlds: readonly string[];
  readonly builds: readonly (BuildWord | null)[];
  readonly history: ReturnType<ChangeHistory['columns']>['lists'];
}

export type HistoryColumns = ReturnType<ChangeHistory['columns']>['columns'];

/** Throws an error that names the column if a reference is invalid. */
export function checkHead(head: Head, columns: HistoryColumns): void {
  checkLists(head);
  checkHistory(columns, head.history);
}

function checkLists({ providers, placements, builds, position, history }: Head): void {
  const [days, counts] = history.scans;
  const { seq, scanId } = (position ?? {}) as { readonly seq?: unknown; readonly scanId?: unknown };
  expect('position', Number.isSafeInteger(seq) && Number.isSafeInteger(scanId));
  // A duplicate name would have one number in look-ups and two in the columns.
  expect('providers', new Set(providers).size === providers.length);
  const isKnown = ([category, provider]: readonly [number, number]) =>
    CATEGORIES[category] !== undefined && Number.isInteger(provider) && provider >= 0 && provider < providers.length;
  expect('placements', placements.every(isKnown) && new Set(placements.map(String)).size === placements.length);
  const isBuild = ([provider, version, platform]: BuildWord) =>
    Number.isInteger(provider) &&
    provider >= 0 &&
    provider < providers.length &&
    typeof version === 'string' &&
    (platform === null || typeof platform === 'string');
  const words = builds.filter((build) => build !== null);
  expect('builds', words.every(isBuild) && new Set(words.map((word) => JSON.stringify(word))).size === words.length);
  expect('scans', counts.length === days.length * SCAN_FIELDS);
}

/** Throws an error that names the column if a value of a page is invalid. */
export function checkPage(number: number, columns: PageColumns, { placements, builds }: Head): void {
  const { nameBytes, nameEnds, ends, pool } = columns;
  const rows = nameEnds.length;
  expect('page', Number.isInteger(number) && number >= 0 && number < MAX_PAGES && rows > 0 && rows <= PAGE_SIZE);
  for (const name of TIME_COLUMNS) expect(name, columns[name]?.length === rows && columns[name] instanceof Uint32Array);
  checkEnds('nameEnds', nameEnds, nameBytes, rows);
  expect('nameBytes', nameBytes instanceof Uint8Array);
  checkEnds('ends', ends, pool, rows);
  const coded = codedOf(columns);
  for (const name of CODED_COLUMNS) expect(name, coded[name].isSound);
  const { state, sector, country, score, buildCounts } = coded;
  expect(
    'state',
    state.values.every((value) => value < STATES.length),
  );
  expect(
    'sector',
    sector.values.every((value) => value < SECTORS.length),
  );
  expect(
    'country',
    country.values.every((value) => value < COUNTRIES),
  );
  expect(
    'score',
    score.values.every((value) => value <= MAX_SCORE || value === NO_SCORE),
  );
  for (let row = 0, from = 0; row < rows; row += 1) {
    const end = ends[row] as number;
    const shown = end - buildCounts.get(row);
    if (shown < from) expect('buildCounts', false);
    for (let i = from; i < shown; i += 1) {
      const service = pool[i] as number;
      if (placementOf(service) >= placements.length || levelOf(service) >= LEVELS.length) expect('pool', false);
    }
    for (let i = shown; i < end; i += 1) if (!builds[pool[i] as number]) expect('pool', false);
    from = end;
  }
}

function checkEnds(column: string, ends: RowEnds, values: RowValues, rows: number): void {
  expect(column, ends.length === rows && ends[rows - 1] === values.length);
  for (let row = 1; row < rows; row += 1) {
    if ((ends[row] as number) < (ends[row - 1] as number)) expect(column, false);
  }
}

/** Throws unless the numbers in the order of the names are those of all names, each once. */
export function checkOrder(order: Uint32Array, names: Pages<PackedRows>, limit: number): void {
  const visited = new Uint8Array(limit);
  let named = 0;
  for (let page = 0; page < names.count; page += 1) {
    const rows = names.at(page);
    for (let row = 0; rows && row < PAGE_SIZE; row += 1) named += Number(rows.from(row) < rows.to(row));
  }
  expect('order', order.length === named);
  for (const number of order) {
    const rows = names.at(pageOf(number));
    const isNamed = rows !== undefined && rows.from(rowOf(number)) < rows.to(rowOf(number));
    if (!isNamed || visited[number] === 1) expect('order', false);
    visited[number] = 1;
  }
}

/** Throws unless the counts are as many as there are terms. */
export function checkTallies(tallies: TallyColumns): void {
  for (const [column, length] of Object.entries(TALLY_LENGTHS))
    expect(column, tallies[column as keyof TallyColumns]?.length === length);
  for (const column of ['pairs', 'sole', 'categoryShares', 'roleShares'] as const)
    expect(column, tallies[column] instanceof Uint32Array);
}

function checkHistory(columns: HistoryColumns, { series, migrating }: Head['history']): void {
  const { seriesLengths, seriesDays, seriesCounts, migrationTimes, migrationKeys, migrationDomains } = columns;
  let next = 0;
  let days = 0;
  let counts = 0;
  for (const [kind, width] of SERIES_WIDTHS.entries()) {
    for (let i = 0; i < (series[kind]?.length ?? 0); i += 1) {
      const length = seriesLengths[next++] ?? Number.NaN;
      days += length;
      counts += length * width;
    }
  }
  expect('seriesLengths', next === seriesLengths.length);
  expect('seriesDays', days === seriesDays.length);
  expect('seriesCounts', counts === seriesCounts.length);
  expect('migrationKeys', migrationKeys.length === migrationTimes.length);
  expect('migrationDomains', migrationDomains.length === migrationTimes.length);
  expect(
    'migrationKeys',
    migrationKeys.every((key) => numbersOf(key).every((number) => number < migrating.length)),
  );
}

export function expect(column: string, isSound: boolean): void {
  if (!isSound) throw new Error(`the snapshot is inconsistent: ${column}`);
}
