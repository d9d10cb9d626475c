// The statements of recording scans: built once, each for any number of rows.
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { countChangeDays, countScanDays } from './day-counts.ts';
import { openIntervals } from './intervals.ts';
import { type JsonColumns, listedIn, rowsIn, toJson } from './json-rows.ts';
import { plan } from './plan.ts';
import { isReadAnew, type KnownDomain } from './plan-scan.ts';
import { isPostgres } from './postgres-dialect.ts';
import type { RecordOptions, ScanRecord } from './record-scan.ts';
import type { Database } from './schema.ts';

type Db = Kysely<Database>;
type DomainRow = Selectable<Database['domains']>;

const SERVICE = {
  confidence: 'text',
  score: 'real',
  evidence: 'text',
  version: 'text',
  platform: 'text',
  status: 'text',
  last_seen: 'integer',
  first_missed: 'integer',
} as const satisfies JsonColumns;
const LOOKED = {
  last_scanned_at: 'integer',
  measured: 'text',
  rulebook: 'text',
  next_due_at: 'integer',
  failures: 'integer',
  is_waiting: 'integer',
  tracked_ms: 'integer',
  changes_seen: 'real',
} as const satisfies JsonColumns;
const TOLD = {
  state: 'text',
  sector: 'text',
  posture_bits: 'integer',
  holder_bits: 'integer',
  score: 'integer',
  summary: 'text',
} as const satisfies JsonColumns;
const NEW_DOMAIN = { name: 'text', source: 'text', created_at: 'integer', next_due_at: 'integer' } as const;
const SCAN = {
  domain_id: 'integer',
  started_at: 'integer',
  finished_at: 'integer',
  state: 'text',
  rulebook: 'text',
  services: 'integer',
  unmeasured: 'text',
  observed_at: 'integer',
  records: 'integer',
} as const satisfies JsonColumns;
const BEGUN = {
  domain_id: 'integer',
  category: 'text',
  role: 'text',
  provider: 'text',
  valid_from: 'integer',
  ...SERVICE,
} as const satisfies JsonColumns;
const CHANGE = {
  domain_id: 'integer',
  scan_id: 'integer',
  at: 'integer',
  confirmed_at: 'integer',
  category: 'text',
  role: 'text',
  type: 'text',
  from_provider: 'text',
  to_provider: 'text',
  confidence: 'text',
  importance: 'text',
  is_entry: 'integer',
  is_exit: 'integer',
} as const satisfies JsonColumns;
const EVENT = { at: 'integer', kind: 'text', domain: 'text', payload: 'text' } as const satisfies JsonColumns;
const EVIDENCE = { domain_id: 'integer', observed_at: 'integer', body: 'blob' } as const satisfies JsonColumns;

/** So that a plan made before can be told from one that stands: it grows with every scan that writes to a domain, or to what hangs on it. */
const MOVED = sql`, revision = revision + 1`;

/** The values of an object in the order of the columns. */
export function valuesOf<Columns extends JsonColumns>(columns: Columns, row: Readonly<Record<keyof Columns, unknown>>) {
  return Object.keys(columns).map((name) => row[name]);
}

export const COLUMNS = { SERVICE, LOOKED, TOLD, NEW_DOMAIN, SCAN, BEGUN, CHANGE, EVENT } as const;

/** Asks nothing where nothing is given. */
type Statement<Row> = (db: Db, rows: readonly unknown[]) => Promise<readonly Row[]>;

export type ScanStatements = ReturnType<typeof prepareScanStatements>;

/** Those that read take a list of names or ids, those that write a list of rows, each with its values in the order of its columns. */
export function prepareScanStatements(db: Db) {
  const once = <Row>(build: (json: string) => RawBuilder<Row>): Statement<Row> => {
    const built = plan(({ json }: { json: string }) => ({ compile: () => build(json).compile(db) }));
    return async (on, rows) => (rows.length === 0 ? [] : built(on, { json: toJson(rows) }));
  };
  const insert = <Row>(table: keyof Database, columns: JsonColumns, end: RawBuilder<unknown> = sql``) =>
    once((json) => {
      const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
      const rows = rowsIn(db, json, columns);
      return sql<Row>`insert into ${sql.table(table)} (${names}) select ${names} from ${rows} as new where true ${end}`;
    });
  /** The same, with the rows counted: on PostgreSQL in one statement, a round trip as for the rows alone. */
  const insertCounted = <Row>(
    table: keyof Database,
    columns: JsonColumns,
    { count, end }: { count: (rows: RawBuilder<unknown>) => RawBuilder<never>; end: RawBuilder<unknown> },
  ): Statement<Row> => {
    if (isPostgres(db)) {
      const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
      return once(
        (json) => sql<Row>`with new as ${rowsIn(db, json, columns)}, counts as (${count(sql.table('new'))})
          insert into ${sql.table(table)} (${names}) select ${names} from new ${end}`,
      );
    }
    const [rows, counts] = [insert<Row>(table, columns, end), once((json) => count(rowsIn(db, json, columns)))];
    return async (on, values) => {
      await counts(on, values);
      return rows(on, values);
    };
  };
  const update = (table: 'domains' | 'services', columns: JsonColumns, more: RawBuilder<unknown> = sql``) =>
    once((json) => {
      const set = Object.keys(columns).map((name) => sql`${sql.ref(name)} = ${sql.ref(`new.${name}`)}`);
      const rows = rowsIn(db, json, { id: 'integer', ...columns });
      const row = sql.table(table);
      return sql<never>`update ${row} set ${sql.join(set)} ${more} from ${rows} as new where ${row}.id = new.id`;
    });
  return {
    domains: once((json) => sql<DomainRow>`select * from domains where name in ${listedIn(db, json, 'text')}`),
    revisions: once(
      (json) => sql<Pick<DomainRow, 'name' | 'revision'>>`
        select name, revision from domains where name in ${listedIn(db, json, 'text')}`,
    ),
    openServices: once(
      (json) => sql<Selectable<Database['services']>>`
        select * from services where domain_id in ${listedIn(db, json, 'integer')} and valid_to is null
        order by domain_id, category, provider`,
    ),
    keptEvidence: once(
      (json) => sql<Pick<Selectable<Database['evidence']>, 'domain_id' | 'body'>>`
        select domain_id, body from evidence where domain_id in ${listedIn(db, json, 'integer')}`,
    ),
    addDomains: insert<Pick<DomainRow, 'id' | 'name'>>('domains', NEW_DOMAIN, sql`returning id, name`),
    addScans: insertCounted<Pick<Selectable<Database['scans']>, 'id' | 'domain_id'>>('scans', SCAN, {
      count: countScanDays,
      end: sql`returning id, domain_id`,
    }),
    endServices: update('services', { valid_to: 'integer', last_seen: 'integer' }),
    dropServices: once((json) => sql<never>`delete from services where id in ${listedIn(db, json, 'integer')}`),
    updateServices: update('services', SERVICE),
    beginServices: insert('services', BEGUN),
    addChanges: insertCounted<Pick<Selectable<Database['changes']>, 'id'>>('changes', CHANGE, {
      count: countChangeDays,
      end: sql`returning id`,
    }),
    addEvents: insert('events', EVENT),
    keepEvidence: insert(
      'evidence',
      EVIDENCE,
      sql`on conflict (domain_id) do update set observed_at = excluded.observed_at, body = excluded.body`,
    ),
    look: update('domains', LOOKED, MOVED),
    tell: update('domains', { ...LOOKED, ...TOLD }, MOVED),
    endLeases: once((json) => sql<never>`delete from scan_leases where domain_id in ${listedIn(db, json, 'integer')}`),
  };
}

/** What is known of the domain of each scan, in their order. */
export async function readKnown(
  db: Db,
  statements: ScanStatements,
  scans: readonly ScanRecord[],
  options: RecordOptions,
): Promise<KnownDomain[]> {
  const names = scans.map(({ profile }) => profile.domain);
  const domains = new Map((await statements.domains(db, names)).map((row) => [row.name, row]));
  const scanned = [...domains.values()].filter((row) => row.last_scanned_at !== null);
  const open = await statements.openServices(
    db,
    scanned.map(({ id }) => id),
  );
  const services = Map.groupBy(open, (row) => row.domain_id);
  const anew = scans.flatMap((scan) => {
    const row = domains.get(scan.profile.domain);
    return row && isReadAnew(row, scan, options) ? [row.id] : [];
  });
  const evidence = new Map((await statements.keptEvidence(db, anew)).map(({ domain_id, body }) => [domain_id, body]));
  return names.map((name) => {
    const row = domains.get(name);
    if (!row) return { row, open: [], evidence: undefined };
    return { row, open: openIntervals(services.get(row.id) ?? [], row), evidence: evidence.get(row.id) };
  });
}
