// The columns of a snapshot, and a check of their consistency: every reference between columns is valid.
import { CATEGORIES, SECTORS } from '@strata/detect';
import type { BuildWord } from '../columns/builds.ts';
import { type ColumnArrays, levelOf, NO_SCORE, placementOf } from '../columns/domain-columns.ts';
import type { NameColumns } from '../columns/name-table.ts';
import { COUNTRIES, LEVELS, STATES } from '../columns/terms.ts';
import { type ChangeHistory, SERIES_WIDTHS } from '../history/change-history.ts';
import { numbersOf } from '../history/migration-log.ts';
import { SCAN_FIELDS } from '../history/scan-days.ts';

export type SnapshotColumns = NameColumns & ColumnArrays & ReturnType<ChangeHistory['columns']>['columns'];

interface Lists {
  readonly placements: readonly (readonly [category: number, provider: number])[];
  readonly builds: readonly (BuildWord | null)[];
  /** Keys of the series of providers, placements and categories. */
  readonly series: readonly (readonly string[])[];
  readonly providerNames: readonly string[];
  readonly position: unknown;
  /** Days, and the counts of each. */
  readonly scans: readonly [readonly number[], readonly number[]];
  /** Providers in the numbering of the migration log. */
  readonly migrating: readonly string[];
}

/** Throws an error that names the column if a reference is invalid. */
export function checkColumns(columns: SnapshotColumns, lists: Lists): void {
  checkLists(lists);
  checkNames(columns);
  checkDomains(columns, lists);
  checkHistory(columns, lists);
}

function checkLists({ providerNames, placements, builds, position, scans: [days, counts] }: Lists): void {
  const { seq, scanId } = (position ?? {}) as { readonly seq?: unknown; readonly scanId?: unknown };
  expect('position', Number.isSafeInteger(seq) && Number.isSafeInteger(scanId));
  // A duplicate name would have one number in look-ups and two in the columns.
  expect('providers', new Set(providerNames).size === providerNames.length);
  expect('placements', new Set(placements.map(String)).size === placements.length);
  const isBuild = ([provider, version, platform]: BuildWord) =>
    Number.isInteger(provider) &&
    provider >= 0 &&
    provider < providerNames.length &&
    typeof version === 'string' &&
    (platform === null || typeof platform === 'string');
  const words = builds.filter((build) => build !== null);
  expect('builds', words.every(isBuild) && new Set(words.map((word) => JSON.stringify(word))).size === words.length);
  expect('scans', counts.length === days.length * SCAN_FIELDS);
}

function checkNames({ nameBytes, nameStarts, nameLengths, nameOrder }: SnapshotColumns): void {
  expect('nameLengths', nameLengths.length === nameStarts.length);
  let named = 0;
  for (let number = 0; number < nameStarts.length; number += 1) {
    const start = nameStarts[number] as number;
    if (start === 0) continue;
    named += 1;
    if (start + (nameLengths[number] as number) > nameBytes.length) expect('nameStarts', false);
  }
  expect('nameOrder', nameOrder.length === named);
  const visited = new Uint8Array(nameStarts.length);
  for (const number of nameOrder) {
    if ((nameStarts[number] ?? 0) === 0 || visited[number] === 1) expect('nameOrder', false);
    visited[number] = 1;
  }
}

function checkDomains(columns: SnapshotColumns, { providerNames, placements, builds }: Lists): void {
  const { nameStarts, state, sector, country, score, starts, counts, buildCounts, pool } = columns;
  for (const name of PER_DOMAIN) {
    expect(name, columns[name].length === nameStarts.length);
  }
  const isKnown = ([category, provider]: readonly [number, number]) =>
    CATEGORIES[category] !== undefined &&
    Number.isInteger(provider) &&
    provider >= 0 &&
    provider < providerNames.length;
  expect('placements', placements.every(isKnown));
  for (let domain = 0; domain < state.length; domain += 1) {
    if ((state[domain] as number) >= STATES.length) expect('state', false);
    if ((sector[domain] as number) >= SECTORS.length) expect('sector', false);
    if ((country[domain] as number) >= COUNTRIES) expect('country', false);
    if ((score[domain] as number) > 100 && score[domain] !== NO_SCORE) expect('score', false);
    const start = starts[domain] as number;
    const shown = start + (counts[domain] as number);
    const end = shown + (buildCounts[domain] as number);
    if (end > start && end > pool.length) expect('starts', false);
    for (let i = start; i < shown; i += 1) {
      const service = pool[i] as number;
      if (placementOf(service) >= placements.length || levelOf(service) >= LEVELS.length) expect('pool', false);
    }
    for (let i = shown; i < end; i += 1) if (!builds[pool[i] as number]) expect('pool', false);
  }
}

const PER_DOMAIN = [
  'scannedAt',
  'firstSeen',
  'changedAt',
  'state',
  'sector',
  'score',
  'posture',
  'holders',
  'country',
  'starts',
  'counts',
  'buildCounts',
] as const;

function checkHistory(columns: SnapshotColumns, { series, migrating }: Lists): void {
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

function expect(column: string, isSound: boolean): void {
  if (!isSound) throw new Error(`the snapshot is inconsistent: ${column}`);
}
