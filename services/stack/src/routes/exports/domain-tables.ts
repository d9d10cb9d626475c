// Tables of domains: every domain that matches the filters of a search, in the order of their names.
import { type DomainFilter, type DomainRow, listDomains } from '@strata/analytics';
import { gradeOf, type RecordKind, ROLE_LIST, SECTORS } from '@strata/detect';
import type { Row } from '@strata/http';
import type { TableApp } from '../../context.ts';
import { POSTURE_COLUMNS, postureCells } from '../domains/posture-columns.ts';
import { roleCells, roleColumns } from '../domains/role-columns.ts';
import { domainFilter, domainParameters } from '../domains/search.ts';
import { KindParameter } from '../records/record-fields.ts';
import { exportTable, TIME, time } from './export-table.ts';

/** Domains read at once: some milliseconds. */
const AT_ONCE = 1_000;
/** A domain has some dozens of records, at most about a thousand. */
const AT_ONCE_OF_RECORDS = 25;

const NAME = { name: 'domain', description: 'Registrable domain, as A-labels.' };
const STATE = { name: 'state', description: 'active, parked, nonexistent or unmeasured.' };
const SECTOR = { name: 'sector', description: SECTORS.join(', ') };
const SCORE = [
  { name: 'score', description: 'Security score, 0 to 100.', type: 'integer' },
  { name: 'grade', description: 'A+ to F.' },
] as const;
const SCANNED = { name: 'scanned_at', ...TIME };
/** Behind the other columns, which keep their positions. */
const TIMES = [
  { name: 'first_seen', ...TIME, description: 'The first scan that measured the domain.' },
  { name: 'changed_at', ...TIME, description: 'Confirmation of its last change of services; empty: none.' },
] as const;
const INCOMPLETE = { name: 'incomplete', description: 'What the last scan could not measure, separated by `;`.' };
const timesOf = ({ firstSeen, changedAt }: DomainRow) => [time(firstSeen), changedAt === 0 ? null : time(changedAt)];
const factsOf = ({ name, state, sector, score }: DomainRow) => [
  ...[name, state, sector, score, score === null ? null : gradeOf(score)],
];
const idsOf = (rows: readonly DomainRow[]) => rows.map(({ id }) => id);
const MEANING = 'The filters are those of `/stack/v1/search`; in the order of names.';

export const domainsTable = exportTable({
  name: 'domains',
  summary: 'All domains of a search, with their providers by role',
  description: MEANING,
  columns: [NAME, STATE, SECTOR, ...SCORE, SCANNED, ...roleColumns(ROLE_LIST), ...TIMES, INCOMPLETE],
  parameters: domainParameters,
  rows: (app, input) => profileRows(app, domainFilter(app, input)),
});

async function* profileRows({ analytics, store, names }: TableApp, filter: DomainFilter): AsyncGenerator<Row[]> {
  for await (const domains of listDomains(analytics, filter, AT_ONCE)) {
    const unmeasured = await store.bulk.unmeasured(idsOf(domains));
    yield domains.map((row) => {
      const incomplete = unmeasured.get(row.id)?.replaceAll(',', ';') ?? '';
      const scanned = time(row.scannedAt);
      return [...factsOf(row), scanned, ...roleCells(row, ROLE_LIST, names), ...timesOf(row), incomplete];
    });
  }
}

export const scorecardTable = exportTable({
  name: 'scorecard',
  summary: 'The security posture of all domains of a search',
  description: `${MEANING} An empty cell means unmeasured.`,
  columns: [NAME, STATE, SECTOR, ...SCORE, ...POSTURE_COLUMNS, SCANNED, ...TIMES],
  parameters: domainParameters,
  rows: (app, input) => scorecardRows(app, domainFilter(app, input)),
});

async function* scorecardRows({ analytics }: TableApp, filter: DomainFilter): AsyncGenerator<Row[]> {
  for await (const domains of listDomains(analytics, filter, AT_ONCE))
    yield domains.map((row) => [
      ...factsOf(row),
      ...postureCells(row.posture),
      ...[time(row.scannedAt), ...timesOf(row)],
    ]);
}

export const servicesTable = exportTable({
  name: 'services',
  summary: 'The current services of all domains of a search',
  description: `One row per domain, category and provider. ${MEANING}`,
  columns: [
    NAME,
    { name: 'category', description: 'Category of the service.' },
    { name: 'role', description: 'Role within the category.' },
    { name: 'provider_id', description: 'Id of the provider.' },
    { name: 'provider', description: 'Name of the provider.' },
    { name: 'confidence', description: 'high, medium or low.' },
    { name: 'first_seen', ...TIME },
    { name: 'last_seen', ...TIME },
  ],
  parameters: domainParameters,
  rows: (app, input) => serviceRows(app, domainFilter(app, input)),
});

async function* serviceRows({ analytics, store, names }: TableApp, filter: DomainFilter): AsyncGenerator<Row[]> {
  for await (const domains of listDomains(analytics, filter, AT_ONCE)) {
    const services = Map.groupBy(await store.bulk.services(idsOf(domains)), ({ domainId }) => domainId);
    yield domains.flatMap((row) =>
      (services.get(row.id) ?? []).map(
        ({ category, provider, confidence, firstObserved, lastObserved, role: stored }) => {
          const role = names.roleOf(category, provider, stored);
          const what = [row.name, category, role, provider, names.nameOf(provider), confidence];
          return [...what, time(firstObserved), time(lastObserved ?? row.scannedAt)];
        },
      ),
    );
  }
}

const recordParameters = { ...domainParameters, kind: KindParameter.optional() };

export const recordsTable = exportTable({
  name: 'records',
  summary: 'The observed records of all domains of a search, with their history',
  description: `One row per domain, kind, value and interval in which the value was published. ${MEANING}`,
  columns: [
    NAME,
    { name: 'kind', description: 'Kind of the value, as in `/stack/v1/pivot/{kind}/{value}`.' },
    { name: 'value', description: 'Observed value.' },
    { name: 'first_seen', ...TIME },
    { name: 'last_seen', ...TIME },
    { name: 'ended_at', ...TIME, description: 'The first successful look-up without the value; empty while present.' },
  ],
  parameters: recordParameters,
  rows: (app, { kind, ...input }) => recordRows(app, domainFilter(app, input), kind),
});

async function* recordRows(
  { analytics, store }: TableApp,
  filter: DomainFilter,
  kind: RecordKind | undefined,
): AsyncGenerator<Row[]> {
  for await (const domains of listDomains(analytics, filter, AT_ONCE_OF_RECORDS)) {
    const records = Map.groupBy(await store.records.ofEach(idsOf(domains), kind), ({ domainId }) => domainId);
    yield domains.flatMap(({ id, name }) =>
      (records.get(id) ?? []).map((record) => {
        const ended = record.endedAt && time(record.endedAt);
        return [name, record.kind, record.value, time(record.firstSeen), time(record.lastSeen), ended];
      }),
    );
  }
}
