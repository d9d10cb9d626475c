// The SQL statements that record scans: built once, each for any number of rows.

import {
  executePipelined,
  IS_OUTDATED,
  isIn,
  isPostgres,
  type Json,
  type JsonColumns,
  listedIn,
  plan,
  rowsIn,
  toJson,
} from '@strata/db';
import {
  needsRedetection,
  type ObservedRecords,
  observedRecords,
  type RecordInterval,
  type RecordOptions,
  type ScanRecord,
} from '@strata/detect';
import { type CompiledQuery, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { countChangeDays, countScanDays } from '../history/day-counts.ts';
import type { Database } from '../schema.ts';
import {
  BEGUN,
  CHANGE,
  DIGEST,
  EVENT,
  EVIDENCE,
  NEW_DOMAIN,
  PLANNED,
  PUBLISHED,
  RECORD,
  RECORD_KEY,
  SCAN,
  SERVICE,
  UPDATED,
} from './scan-columns.ts';
import { type DomainRow, openIntervals, recordInterval, type StoredDomain } from './scan-rows.ts';

type Db = Kysely<Database>;

/** The format of `changeId`. */
const CHANGE_ID = sql`'ch_' || case when change_id < 10000000000 then substr(cast(change_id + 10000000000 as text), 2)
  else cast(change_id as text) end`;
const PAYLOAD = sql`'{' || case when change_id is null then '' else '"id":"' || ${CHANGE_ID} || '",' end
  || '"domainId":' || domain_id || ',' || rest || '}'`;

/** Begins the names of PostgreSQL transaction settings that hold the rows to write. */
const ROWS = 'strata.rows';

/** Recording a scan ends the lease of its domain. */
const END_LEASE = sql`leased_until = null, leased_by = null`;
/** Every scan that writes to a domain, or to rows that refer to it, increments its revision, which makes older plans outdated. */
const NEXT_REVISION = sql`, revision = revision + 1, ${END_LEASE}`;

/** Builds the query for a list of names, ids or rows. */
type Query<Row> = (list: readonly unknown[]) => CompiledQuery<Row>;
/** A query that writes rows. PostgreSQL reads them from a transaction setting that `sendRows` sets before the lock is acquired. */
export interface Write<Row = unknown> {
  readonly query: CompiledQuery<Row>;
  readonly rows: { readonly setting: string; readonly json: string };
}
/** Builds the queries for rows, none for an empty list; the last query returns their results. */
type Statement<Row> = (rows: readonly unknown[]) => readonly Write<Row>[];

export type ScanStatements = ReturnType<typeof prepareScanStatements>;

/** Read statements take a list of names or ids; write statements take rows as value lists in column order. */
export function prepareScanStatements(db: Db) {
  const once = <Row>(build: (json: Json) => RawBuilder<Row>): Query<Row> => {
    const built = plan(({ json }: { json: string }) => ({ compile: () => build(json).compile(db) }));
    return (list) => built({ json: toJson(list) });
  };
  let writes = 0;
  const write = <Row>(build: (json: Json) => RawBuilder<Row>): Statement<Row> => {
    const setting = `${ROWS}_${writes++}`;
    const sent = (name: string) => sql<string>`
      case when current_setting(${sql.lit(IS_OUTDATED)}, true) = 'yes' then '[]' else current_setting(${name}) end`;
    const query = plan(({ value }: { value: string }) => ({
      compile: () => build(isPostgres(db) ? sent(value) : value).compile(db),
    }));
    return (list) => {
      if (list.length === 0) return [];
      const json = toJson(list);
      return [{ query: query({ value: isPostgres(db) ? setting : json }), rows: { setting, json } }];
    };
  };
  const namesOf = (columns: JsonColumns) => sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  const insert = <Row>(table: keyof Database, columns: JsonColumns, end: RawBuilder<unknown> = sql``) =>
    write((json) => {
      const names = namesOf(columns);
      const rows = rowsIn(db, json, columns);
      return sql<Row>`insert into ${sql.table(table)} (${names}) select ${names} from ${rows} as new where true ${end}`;
    });
  /** As `insert`, and counts the rows by day; one statement on PostgreSQL. */
  const insertCounted = <Row>(
    table: keyof Database,
    columns: JsonColumns,
    { count, end = sql`` }: { count: (rows: RawBuilder<unknown>) => RawBuilder<never>; end?: RawBuilder<unknown> },
  ): Statement<Row> => {
    if (isPostgres(db)) {
      const names = namesOf(columns);
      return write(
        (json) => sql<Row>`with new as ${rowsIn(db, json, columns)}, counts as (${count(sql.table('new'))})
          insert into ${sql.table(table)} (${names}) select ${names} from new ${end}`,
      );
    }
    const [rows, counts] = [insert<Row>(table, columns, end), write<Row>((json) => count(rowsIn(db, json, columns)))];
    return (values) => [...counts(values), ...rows(values)];
  };
  const update = (table: 'domains' | 'services', columns: JsonColumns, more: RawBuilder<unknown> = sql``) =>
    write((json) => {
      const set = Object.keys(columns).map((name) => sql`${sql.ref(name)} = ${sql.ref(`new.${name}`)}`);
      const rows = rowsIn(db, json, { id: table === 'domains' ? 'domains.id' : 'integer', ...columns });
      const row = sql.table(table);
      return sql<never>`update ${row} set ${sql.join(set)} ${more} from ${rows} as new where ${row}.id = new.id`;
    });
  const named = (json: Json) => isIn(db, 'name', listedIn(db, json, 'text'));
  const ofDomains = (json: Json) => isIn(db, 'domain_id', listedIn(db, json, 'integer'));
  return {
    domains: once((json) => sql<DomainRow>`select * from domains where ${named(json)}`),
    openServices: once(
      (json) => sql<Selectable<Database['services']>>`
        select * from services where valid_to is null
          and ${isIn(db, 'domain_id', sql`(select id from domains where ${named(json)})`)}
        order by domain_id, category, provider`,
    ),
    /** The records of the domains whose last observation had another digest. */
    changedRecords: once(
      (json) => sql<Selectable<Database['records']>>`
        select records.* from ${rowsIn(db, json, DIGEST)} as observed
          join domains on domains.name = observed.name and domains.record_digest is distinct from observed.digest
          join records on records.domain_id = domains.id`,
    ),
    keptEvidence: once(
      (json) => sql<Pick<Selectable<Database['evidence']>, 'domain_id' | 'body'>>`
        select domain_id, body from evidence where ${ofDomains(json)}`,
    ),
    /**
     * PostgreSQL: locks the rows of the domains until the end of the transaction, in one order, and makes later statements write
     * nothing if a domain's revision differs from the planned one.
     */
    lockPlanned: once(
      (json) => sql<{ is_outdated: string }>`
        with planned as materialized ${rowsIn(db, json, PLANNED)}, stored as materialized (
          select name, revision from domains where name in (select name from planned) order by id for no key update)
        select set_config(${sql.lit(IS_OUTDATED)}, case when exists (
          select 1 from planned left join stored using (name) where stored.revision is distinct from planned.revision
        ) then 'yes' else 'no' end, true) as is_outdated`,
    ),
    /** Must run before the writes; empty on SQLite. */
    sendRows: (writes: readonly Write[]): readonly CompiledQuery[] => {
      if (!isPostgres(db)) return [];
      const settings = writes.map(({ rows: { setting, json } }) => sql`set_config(${setting}, ${json}, true)`);
      return [sql<never>`select ${sql.join(settings)}`.compile(db)];
    },
    addDomains: insert('domains', NEW_DOMAIN),
    addScans: insertCounted('scans', SCAN, { count: countScanDays }),
    endServices: update('services', { valid_to: 'integer', last_seen: 'integer' }),
    dropServices: write((json) => sql<never>`delete from services where id in ${listedIn(db, json, 'integer')}`),
    updateServices: update('services', SERVICE),
    beginServices: insert('services', BEGUN),
    putRecords: insert(
      'records',
      RECORD,
      sql`on conflict (domain_id, kind, value, first_seen)
        do update set last_seen = excluded.last_seen, ended_at = excluded.ended_at`,
    ),
    dropRecords: write((json) => {
      const key = namesOf(RECORD_KEY);
      return sql<never>`delete from records where (${key}) in (select ${key} from ${rowsIn(db, json, RECORD_KEY)} as old)`;
    }),
    addChanges: insertCounted<Pick<Selectable<Database['changes']>, 'id'>>('changes', CHANGE, {
      count: countChangeDays,
      end: sql`returning id`,
    }),
    addEvents: write(
      (json) => sql<never>`
        insert into events (at, kind, domain, payload)
        select at, kind, domain, ${PAYLOAD} from ${rowsIn(db, json, EVENT)} as new where true`,
    ),
    keepEvidence: insert(
      'evidence',
      EVIDENCE,
      sql`on conflict (domain_id) do update set observed_at = excluded.observed_at, body = excluded.body`,
    ),
    updateDomains: update('domains', UPDATED, NEXT_REVISION),
    publishDomains: update('domains', { ...UPDATED, ...PUBLISHED }, NEXT_REVISION),
    endLeases: write(
      (json) => sql<never>`
        update domains set ${END_LEASE} where leased_until is not null and id in ${listedIn(db, json, 'integer')}`,
    ),
  };
}

/** The stored state of the domain of each scan, in order. */
export async function readStored(
  db: Db,
  statements: ScanStatements,
  scans: readonly ScanRecord[],
  options: RecordOptions,
): Promise<StoredDomain[]> {
  const names = scans.map(({ profile }) => profile.domain);
  const observed = scans.map(({ evidence }) => observedRecords(evidence));
  const [rows, open, changed] = await executePipelined(db, [
    statements.domains(names),
    statements.openServices(names),
    statements.changedRecords(names.map((name, index) => [name, observed[index]?.digest])),
  ]);
  const domains = new Map(rows.rows.map((row) => [row.name, row]));
  const records = Map.groupBy(changed.rows, (row) => row.domain_id);
  const services = Map.groupBy(open.rows, (row) => row.domain_id);
  const redetected = scans.flatMap((scan) => {
    const row = domains.get(scan.profile.domain);
    return row && needsRedetection(row, scan.profile, options) ? [row.id] : [];
  });
  const kept = redetected.length > 0 ? (await db.executeQuery(statements.keptEvidence(redetected))).rows : [];
  const evidence = new Map(kept.map(({ domain_id, body }) => [domain_id, body]));
  return names.map((name, index) => {
    const row = domains.get(name);
    const now = observed[index] as ObservedRecords;
    const known = (intervals: readonly RecordInterval[]) => ({ intervals, observed: now });
    if (!row) return { row, open: [], evidence: undefined, records: known([]) };
    return {
      row,
      open: openIntervals(services.get(row.id) ?? [], row),
      evidence: evidence.get(row.id),
      records: row.record_digest === now.digest ? undefined : known((records.get(row.id) ?? []).map(recordInterval)),
    };
  });
}
