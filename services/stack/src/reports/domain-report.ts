// The API representation of a domain and its changes.
import { CATEGORIES, KINDS, ROLE_LIST, SOURCES, sentenceOf } from '@strata/detect';
import { z } from 'zod';
import { OpenAdvisoriesSchema } from '../enrichment/exposure/advisory-report.ts';
import type { KnownNames } from '../index/known-names.ts';
import type { StoredChange, StoredProfile } from '../store/index.ts';
import { sortMembers } from './in-schema.ts';
import { MeasurementSchema, SecuritySchema, securityReport } from './security-report.ts';
import { StaleRolesSchema, staleRoles } from './stale-report.ts';

const Time = z.iso.datetime();
const Confidence = z.enum(['high', 'medium', 'low']);
export const ServiceSchema = z
  .object({
    category: z.enum(CATEGORIES),
    role: z.enum(ROLE_LIST).describe('The role of the provider, more specific than the category.'),
    provider: z.string(),
    provider_id: z.string(),
    confidence: Confidence,
    first_seen: Time,
    last_seen: Time,
    stale: z.boolean().describe('Of an earlier scan: the last one could not measure its role.'),
    version: z.string().nullable().describe('As shown by a header or the page.'),
    platform: z.string().nullable().describe('The platform of the version, if shown: `ubuntu`.'),
    evidence: z.array(z.object({ source: z.enum(SOURCES), value: z.string(), rule: z.string() })),
    explanation: z.string().describe('The reason for the claim, in one sentence.'),
    kinds: z.array(z.enum(KINDS)).describe('Kinds of the provider, more specific than the category.'),
  })
  .meta({ id: 'Service' });

export const DomainReportSchema = z.object({
  domain: z.string(),
  scanned_at: Time,
  state: z.enum(['active', 'parked', 'nonexistent', 'unmeasured']),
  sector: z.string(),
  sector_source: z
    .enum(['list', 'suffix', 'page'])
    .nullable()
    .describe("Source of the sector: the operator's list, the suffix, or the home page."),
  country: z
    .object({
      tld: z.string().nullable().describe('Of the top-level domain: `DE` for `de`.'),
      network: z
        .string()
        .nullable()
        .describe(
          "Of the network of the site's address, as its registry gives it; its servers may be in another country.",
        ),
    })
    .describe('ISO 3166 codes; `country:` in a query means either.'),
  services: z.array(ServiceSchema),
  security: SecuritySchema,
  roles: z
    .record(z.string(), MeasurementSchema)
    .describe('Measurement status of each role in the last scan that measured it.'),
  stale_roles: StaleRolesSchema,
  redirects_to: z.string().nullable(),
  advisories: OpenAdvisoriesSchema,
  rulebook: z.string().describe('Version of the rulebook that evaluated the evidence.'),
});

export const ChangeSchema = z
  .object({
    id: z.string(),
    at: Time.describe('Time of the first observation.'),
    confirmed_at: Time.describe('Time of the second, confirming observation.'),
    category: z.enum(CATEGORIES),
    role: z.enum(ROLE_LIST),
    type: z.enum(['added', 'removed', 'migrated', 'reclassified']),
    from: z.string().nullable(),
    to: z.string().nullable(),
    from_id: z.string().nullable(),
    to_id: z.string().nullable(),
    confidence: Confidence,
    importance: z.enum(['high', 'medium', 'low']),
  })
  .meta({ id: 'Change' });

export function domainReport(
  profile: StoredProfile,
  { names, advisories }: { readonly names: KnownNames; readonly advisories: z.input<typeof OpenAdvisoriesSchema> },
): z.input<typeof DomainReportSchema> {
  // The members of each value are sorted: what is canonical already is signed in less time, and written once.
  return {
    domain: profile.domain,
    scanned_at: profile.scannedAt.toISOString(),
    state: profile.state,
    sector: profile.sector,
    sector_source: profile.sectorSource ?? null,
    country: { network: profile.country, tld: countryOfTld(profile.domain) },
    services: [...profile.services]
      .sort((a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category) || b.score - a.score)
      .map((stored) => ({ ...stored, role: names.roleOf(stored.category, stored.provider, stored.role) }))
      .map((service) => ({
        category: service.category,
        confidence: service.confidence,
        evidence: service.evidence.map(({ rule, source, value }) => ({ rule, source, value })),
        explanation: sentenceOf(service, names.nameOf(service.provider)),
        first_seen: service.firstObserved.toISOString(),
        kinds: [...names.kindsOf(service.provider)],
        last_seen: service.lastObserved.toISOString(),
        platform: service.platform,
        provider: names.nameOf(service.provider),
        provider_id: service.provider,
        role: service.role,
        stale: profile.stale?.roles[service.role] !== undefined,
        version: service.version,
      })),
    security: securityReport(profile),
    roles: sortMembers(profile.roles),
    stale_roles: staleRoles(profile),
    redirects_to: profile.redirectsTo,
    advisories,
    rulebook: profile.rulebook,
  };
}

/** A top-level domain of two letters is a country code, except `eu` and `su`; `uk` is of GB. */
function countryOfTld(domain: string): string | null {
  const tld = domain.slice(domain.lastIndexOf('.') + 1);
  if (!/^[a-z]{2}$/.test(tld) || tld === 'eu' || tld === 'su') return null;
  return tld === 'uk' ? 'GB' : tld.toUpperCase();
}

export function changeReport(change: StoredChange, names: KnownNames): z.input<typeof ChangeSchema> {
  const name = (id: string | null) => (id === null ? null : names.nameOf(id));
  return {
    id: change.id,
    at: change.at.toISOString(),
    confirmed_at: change.confirmedAt.toISOString(),
    category: change.category,
    role: names.roleOf(change.category, change.to ?? change.from ?? '', change.role),
    type: change.type,
    from: name(change.from),
    to: name(change.to),
    from_id: change.from,
    to_id: change.to,
    confidence: change.confidence,
    importance: change.importance,
  };
}
