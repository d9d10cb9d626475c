// Domains: adds names, and reads what is stored of a domain.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { batches, integer, isPostgres, jsonRows, listedIn, plan, readTogether, writePipelined } from '@strata/db';
import {
  allStale,
  type Category,
  type Profile,
  type ProfileSummary,
  type Service,
  type ServiceChange,
  summaryOf,
} from '@strata/detect';
import { type Kysely, type Selectable, sql } from 'kysely';
import { newest, type Page } from '../history/change-pages.ts';
import { serviceOf } from '../scans/scan-rows.ts';
import type { Database } from '../schema.ts';
import { adopting, isFollowed } from './forget-domains.ts';

export interface AddedDomains {
  readonly added: number;
  readonly known: number;
}

/** A confirmed service; a service that was absent in only one scan is included. */
export interface StoredService extends Service {
  readonly firstObserved: Date;
  readonly lastObserved: Date;
}

export interface StoredProfile extends ProfileSummary, Pick<Profile, 'domain' | 'state' | 'rulebook'> {
  readonly scannedAt: Date;
  readonly sector: string;
  /** Of the network of its address. */
  readonly country: string | null;
  readonly services: readonly StoredService[];
}

export interface StoredChange extends Omit<ServiceChange, 'at' | 'confirmedAt'> {
  readonly id: string;
  readonly at: Date;
  readonly confirmedAt: Date;
}

/** Names in one statement: well below SQLite's limit of 32,766 parameters. */
const BATCH = 1_000;
/** Names added in one transaction. More are not faster, nor is `COPY`: maintaining the index over names dominates. */
const ADD_BATCH = 10_000;

/** Names that were added and not scanned yet may be many. */
const MAX_NAMES_READ = 500;

export class DomainTable {
  readonly #db: Kysely<Database>;
  readonly #now: () => Date;
  /**
   * Undefined until the domain has been scanned. One statement, so the services are those of the scan at `scannedAt`, also while
   * another process writes.
   */
  readonly profile: (name: string) => Promise<StoredProfile | undefined>;

  constructor(db: Kysely<Database>, now: () => Date) {
    this.#db = db;
    this.#now = now;
    const rowsOf = plan<{ names: unknown }, DomainRow | ServiceRow>(({ names }) => profileRows(db, names));
    this.profile = readTogether(async (names) => {
      const { rows } = await db.executeQuery(rowsOf({ names: isPostgres(db) ? names : JSON.stringify(names) }));
      return profilesIn(rows);
    });
  }

  /** Adds unknown names in batches of ten thousand; they are due at once. A repeated name counts as known. */
  async add(names: Iterable<string>, { source }: { readonly source: string }): Promise<AddedDomains> {
    const created_at = this.#now().getTime();
    let added = 0;
    let known = 0;
    for (const batch of batches(names, ADD_BATCH)) {
      const distinct = [...new Set(batch)];
      const rows = distinct.map((name, index) => [index, name]);
      // A transaction takes the writer lock, so that two lists in different orders do not deadlock. Known names are excluded
      // before the insert: a conflict would use up a number, and memory that is indexed by number would grow.
      const adding = sql<never>`
        insert into domains (name, source, created_at, next_due_at)
        select name, cast(${source} as text), ${integer(created_at)}, 0
        from ${jsonRows(this.#db, rows, { position: 'integer', name: 'text' })} as new
        where not exists (select 1 from domains where domains.name = new.name) order by position`;
      const queries = [adopting(this.#db, distinct, source), adding.compile(this.#db)] as const;
      const [, { numAffectedRows }] = await writePipelined(this.#db, queries);
      const inserted = Number(numAffectedRows ?? 0);
      added += inserted;
      known += distinct.length - inserted;
      // Lets other queries and the event loop run between batches.
      await yieldToEventLoop();
    }
    return { added, known };
  }

  /** Whether the domain is tracked, scanned or not. */
  async isTracked(name: string): Promise<boolean> {
    const rows = this.#db.selectFrom('domains').where('name', '=', name).where(isFollowed).select('id');
    return (await rows.executeTakeFirst()) !== undefined;
  }

  /**
   * Confirmed changes, newest first; of changes at the same time the most important first. The order is total, so that pages
   * from `after` neither skip nor repeat. `total` is of the category, if one is given; `byCategory` has every
   * category with changes.
   */
  async changes(
    name: string,
    page: Page & { readonly category?: Category },
  ): Promise<{
    readonly total: number;
    readonly byCategory: ReadonlyMap<Category, number>;
    readonly changes: readonly StoredChange[];
  }> {
    const { category } = page;
    const all = this.#db
      .selectFrom('changes')
      .where('changes.domain_id', '=', this.#db.selectFrom('domains').where('name', '=', name).select('id'));
    const ofDomain = category === undefined ? all : all.where('changes.category', '=', category);
    const rows = await newest(ofDomain.selectAll('changes'), 'at', page).execute();
    const counts = await all
      .select(['changes.category', sql<number>`count(*)`.as('n')])
      .groupBy('changes.category')
      .execute();
    const byCategory = new Map(counts.map((row) => [row.category, Number(row.n)]));
    const sum = [...byCategory.values()].reduce((all, n) => all + n, 0);
    const total = category === undefined ? sum : (byCategory.get(category) ?? 0);
    return { total, byCategory, changes: rows.map(storedChange) };
  }

  /** The first scanned domains whose name begins with a text, in order; reads at most `MAX_NAMES_READ` names. */
  async namesFrom(text: string, limit: number): Promise<string[]> {
    const begun = this.#db
      .selectFrom('domains')
      .where('name', '>=', text)
      .where('name', '<', `${text}\u{7f}`)
      .orderBy('name')
      .limit(MAX_NAMES_READ)
      .select(['name', 'last_scanned_at']);
    const rows = await this.#db
      .selectFrom(begun.as('begun'))
      .where('last_scanned_at', 'is not', null)
      .orderBy('name')
      .limit(limit)
      .select('name')
      .execute();
    return rows.map(({ name }) => name);
  }

  /** Whether no domain was ever added. */
  async isEmpty(): Promise<boolean> {
    return (await this.#db.selectFrom('domains').select('id').limit(1).executeTakeFirst()) === undefined;
  }

  /** Names that are due and that no process scans: never scanned first, then the longest overdue. */
  async due(now: Date, limit: number): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('domains')
      .where('leased_until', 'is', null)
      .where('next_due_at', '<=', now.getTime())
      .orderBy('next_due_at')
      .orderBy('id')
      .limit(limit)
      .select('name')
      .execute();
    return rows.map((row) => row.name);
  }

  async scannedSince(names: readonly string[], since: Date): Promise<Set<string>> {
    const scanned = new Set<string>();
    for (const batch of batches(names, BATCH)) {
      const rows = await this.#db
        .selectFrom('domains')
        .where('name', 'in', batch)
        .where('last_scanned_at', '>=', since.getTime())
        .select('name')
        .execute();
      for (const row of rows) scanned.add(row.name);
    }
    return scanned;
  }
}

const OF_DOMAIN = [
  ...(['name', 'state', 'sector', 'country'] as const),
  ...(['rulebook', 'summary', 'failures', 'last_scanned_at'] as const),
];
const OF_SERVICE = [
  ...(['id', 'category', 'role', 'provider', 'confidence', 'score'] as const),
  ...(['evidence', 'version', 'platform', 'valid_from', 'last_seen'] as const),
];
interface OfDomain {
  readonly domain_id: number;
}
type DomainRow = OfDomain & Pick<Selectable<Database['domains']>, (typeof OF_DOMAIN)[number]> & { readonly id: null };
type ServiceRow = OfDomain & Pick<Selectable<Database['services']>, (typeof OF_SERVICE)[number]>;

/** The rows of the domains, and those of their confirmed services; columns of the other kind are null. `names`: a list, on SQLite as JSON. */
function profileRows(db: Kysely<Database>, names: unknown) {
  const nulls = (columns: readonly string[]) => sql.join(columns.map((column) => sql`null as ${sql.ref(column)}`));
  const columns = (table: string, of: readonly string[]) => sql.join(of.map((column) => sql.ref(`${table}.${column}`)));
  const isNamed = isPostgres(db)
    ? sql`name = any(${names}::text[])`
    : sql`name in ${listedIn(db, sql`${names}`, 'text')}`;
  const query = sql<DomainRow | ServiceRow>`
    select domains.id as domain_id, ${columns('domains', OF_DOMAIN)}, ${nulls(OF_SERVICE)} from domains where ${isNamed}
    union all
    select domains.id, ${nulls(OF_DOMAIN)}, ${columns('services', OF_SERVICE)}
    from domains join services on services.domain_id = domains.id
    where ${isNamed} and valid_to is null and status != 'pending'`;
  return { compile: () => query.compile(db) };
}

/** The profiles of `profileRows`, by name. */
function profilesIn(rows: readonly (DomainRow | ServiceRow)[]): ReadonlyMap<string, StoredProfile> {
  const services = new Map<number, ServiceRow[]>();
  const domains: DomainRow[] = [];
  for (const row of rows) {
    if (row.id === null) domains.push(row);
    else {
      const known = services.get(row.domain_id);
      if (known) known.push(row);
      else services.set(row.domain_id, [row]);
    }
  }
  return new Map(
    domains.flatMap((domain) => {
      const profile = profileOf(domain, services.get(domain.domain_id) ?? []);
      return profile ? [[domain.name, profile]] : [];
    }),
  );
}

function profileOf(domain: DomainRow, rows: readonly ServiceRow[]): StoredProfile | undefined {
  if (!domain.summary || domain.last_scanned_at === null || domain.state === null) return undefined;
  const scannedAt = domain.last_scanned_at;
  const services = rows
    .toSorted((a, b) => a.id - b.id)
    .map((row) => ({
      ...serviceOf(row),
      firstObserved: new Date(row.valid_from),
      lastObserved: new Date(row.last_seen ?? scannedAt),
    }));
  const summary = summaryOf(domain.summary);
  return {
    domain: domain.name,
    scannedAt: new Date(scannedAt),
    state: domain.state,
    sector: domain.sector,
    country: domain.country,
    rulebook: domain.rulebook ?? '',
    services,
    ...summary,
    ...(domain.failures > 0 ? { stale: allStale(summary, new Date(scannedAt).toISOString()) } : {}),
  };
}

export function storedChange(row: Selectable<Database['changes']>): StoredChange {
  return {
    id: changeId(row.id),
    at: new Date(row.at),
    confirmedAt: new Date(row.confirmed_at),
    category: row.category,
    role: row.role,
    type: row.type,
    from: row.from_provider,
    to: row.to_provider,
    confidence: row.confidence,
    importance: row.importance,
  };
}

/** Public id of a change: stable, and increasing in order of confirmation. */
export function changeId(id: number): string {
  return `ch_${String(id).padStart(10, '0')}`;
}
