// Migrations of the changes of domains: indexes of their lists, and a correction of roles.
import { type Kysely, sql } from 'kysely';
import { countChangeDays } from '../history/day-counts.ts';

/**
 * An index for the newest changes of one category: without it, a category with few changes would require a scan of all
 * changes.
 */
export async function changesByCategory(db: Kysely<unknown>): Promise<void> {
  // The category comes first: an index by type would also be chosen for lists of all categories, which would then be sorted.
  await db.schema.createIndex('changes_category').on('changes').columns(['category', 'type', 'at', 'id']).execute();
}

/**
 * Indexes for changes of a window, newest first: windows use the confirmation time, which the indexes by `at` do not
 * contain.
 */
export async function changesByConfirmation(db: Kysely<unknown>): Promise<void> {
  for (const [name, first] of [
    ['changes_confirmed', ['type']],
    ['changes_category_confirmed', ['category', 'type']],
    ['changes_from_confirmed', ['from_provider', 'type']],
    ['changes_to_confirmed', ['to_provider', 'type']],
    // Domains gained or lost by a provider: few of its changes, of several types.
    ['changes_exits', ['from_provider', 'is_exit']],
    ['changes_entries', ['to_provider', 'is_entry']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('changes')
      .columns([...first, 'confirmed_at', 'id'])
      .execute();
  }
}

/**
 * Indexes for changes between two providers, and of one provider in one category: without them a list reads all changes
 * of the provider.
 */
export async function changesBetween(db: Kysely<unknown>): Promise<void> {
  for (const [name, first] of [
    // Both providers are given, so one column order serves both directions.
    ['changes_between', ['to_provider', 'from_provider']],
    ['changes_between_category', ['to_provider', 'from_provider', 'category']],
    ['changes_from_category', ['from_provider', 'category']],
    ['changes_to_category', ['to_provider', 'category']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('changes')
      .columns([...first, 'type', 'at', 'id'])
      .execute();
  }
}

/** The providers of these roles when the roles were introduced. */
const REPORTING = [
  ...'agari autospf barracuda-domain-fraud-protection canadian-cyber-centre cisa cisco-domain-protection'.split(' '),
  ...'cloudflare-dmarc dmarc-advisor dmarc-analyzer dmarc-compass dmarc-report-com dmarc25 dmarcdkim'.split(' '),
  ...'dmarcduty dmarcian dmarcly easydmarc edatasource fraudmarc glockapps hornet-dmarc-manager'.split(' '),
  ...'inbox-monster kdmarc mailhardener merox mxtoolbox ncsc-mail-check netcraft ondmarc phishlabs'.split(' '),
  ...'powerdmarc prodmarc proofpoint-efd report-uri sendforensics sendmarc skysnag suped uriports'.split(' '),
  ...'validity-everest valimail postmark'.split(' '),
];
const FORWARDING = [
  ...'cloudns google-domains addy-io cloudflare-email-routing forward-email forwardmx improvmx pobox'.split(' '),
  ...'simplelogin namecheap porkbun amazon-ses'.split(' '),
];

/**
 * Services that receive DMARC reports, and forwarders, had the role of a mail gateway: a changed report address, and a
 * move between a gateway and a forwarder, were recorded as migrations. They become reclassifications, in the changes
 * and in the counts by day; alerts about migrations away from a report service are deleted.
 */
export async function mailRoles(db: Kysely<unknown>): Promise<void> {
  const among = (column: string, ids: readonly string[]) => sql`${sql.ref(column)} in (${sql.join(ids)})`;
  const wrong = sql`type = 'migrated' and category = 'email_security' and (${among('from_provider', REPORTING)}
    or ${among('to_provider', REPORTING)}
    or (${among('from_provider', FORWARDING)}) <> (${among('to_provider', FORWARDING)}))`;
  const rows = sql`(select * from changes where ${wrong})`;
  // The counts of the migrations are taken back before the same changes are counted as reclassifications.
  await countChangeDays(rows, { isTakenBack: true }).execute(db);
  await countChangeDays(sql`(select id, confirmed_at, category, from_provider, to_provider, is_entry, is_exit,
    'reclassified' as type from changes where ${wrong})`).execute(db);
  await sql`update changes set type = 'reclassified' where ${wrong}`.execute(db);
  const subjects = REPORTING.map((id) => `migration email_security ${id}`);
  await sql`delete from alerts where ${among('subject', subjects)}`.execute(db);
  await sql`update counters set value = (select count(*) from alerts) where name = 'alert-rows'`.execute(db);
}
