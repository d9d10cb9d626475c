// What answers about records have in common: their kinds, and when a value counts as shared.
import { RECORD_KINDS, registrableDomain } from '@strata/detect';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import type { RecordKey, StoredRecord } from '../../store/index.ts';
import { Word } from '../parameters.ts';

export const KindParameter = Word(RECORD_KINDS).describe(
  'Kind of the value. `soa` is the contact of the zone, `cname` a target of the apex or www, `spf` a name that the policy includes, ' +
    '`verification` a token in TXT or in the page, `tag` an id of analytics, a tag manager or advertising in the page, `favicon` the hash of the icon as in Shodan (`http.favicon.hash`), `redirect` ' +
    'another domain that the site leads to.',
);

export const timeFields = {
  first_seen: z.iso.datetime().describe('First observation.'),
  last_seen: z.iso
    .datetime()
    .describe('Last observation; earlier than the last scan if a look-up failed since, or the value has ended.'),
  ended_at: z.iso.datetime().nullable().describe('The first successful look-up without the value; null while present.'),
};

export function timesOf({ firstSeen, lastSeen, endedAt }: Pick<StoredRecord, 'firstSeen' | 'lastSeen' | 'endedAt'>) {
  return {
    first_seen: firstSeen.toISOString(),
    last_seen: lastSeen.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
  };
}

/** A value of more domains is shared infrastructure, which says little about its owners: 1 % of all domains, 20 to 1,000. */
export function sharedBound({ known }: { readonly known: Pick<StackApp['known'], 'size'> }): number {
  return Math.min(Math.max(Math.ceil(known.size / 100), 20), 1_000);
}

/** A certificate of more domains is probably a provider's, as those of CDNs are. */
export const MAX_CERTIFICATE_DOMAINS = 10;

/** Registrable domains that are named by the certificate of one domain. */
export const certificateDomains = (records: readonly RecordKey[]): number =>
  new Set(
    records.flatMap(({ kind, value }) => (kind === 'certificate_name' ? (registrableDomain(value) ?? value) : [])),
  ).size;
