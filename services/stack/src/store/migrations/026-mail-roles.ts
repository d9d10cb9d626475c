// Services that receive DMARC reports, and forwarders, had the role of a mail gateway: a changed report address, and a move between a
// gateway and a forwarder, were recorded as migrations. They become reclassifications, in the changes and in the counts by day;
// alerts about migrations away from a report service are deleted.
import { type Kysely, sql } from 'kysely';
import { countChangeDays } from '../history/day-counts.ts';

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

export async function up(db: Kysely<unknown>): Promise<void> {
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
