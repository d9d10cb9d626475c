// What the API says of a domain: the stored profile in the words and shapes of the interface.
import { CATEGORIES, KINDS, type Measurement, ROLES, SOURCES, sentenceOf } from '@strata/detect';
import type { StoredChange, StoredProfile } from '@strata/store';
import { z } from 'zod';
import { OpenAdvisoriesSchema } from './enrichment/advisory-report.ts';
import type { KnownNames } from './known-names.ts';

const Time = z.iso.datetime();
const MeasurementSchema = z.enum(['observed', 'absent', 'unmeasured', 'blocked']).meta({
  id: 'Measurement',
  description: 'absent: looked and not there; unmeasured: the look-up failed; blocked: kept out.',
});
const Confidence = z.enum(['high', 'medium', 'low']);
const Policy = z.enum(['none', 'quarantine', 'reject']).nullable();

export const ServiceSchema = z
  .object({
    category: z.enum(CATEGORIES),
    role: z.enum(Object.values(ROLES) as [string, ...string[]]).describe('The part that the provider plays.'),
    provider: z.string(),
    provider_id: z.string(),
    confidence: Confidence,
    first_seen: Time,
    last_seen: Time,
    version: z.string().nullable().describe('As a header or the page shows it.'),
    platform: z.string().nullable().describe('What the version was made for, where that is shown: `ubuntu`.'),
    evidence: z.array(z.object({ source: z.enum(SOURCES), value: z.string(), rule: z.string() })),
    explanation: z.string().describe('Why it is claimed, in one sentence.'),
    kinds: z.array(z.enum(KINDS)).describe('What the provider is, finer than the category.'),
  })
  .meta({ id: 'Service' });

const present = z.object({ status: MeasurementSchema, has_record: z.boolean().nullable() });

export const SecuritySchema = z
  .object({
    spf: z.object({
      status: MeasurementSchema,
      result: z.enum(['valid', 'none', 'permerror', 'unmeasured']),
      record: z.string().nullable(),
      all: z.enum(['-all', '~all', '?all', '+all']).nullable(),
    }),
    dmarc: z.object({
      status: MeasurementSchema,
      record: z.string().nullable(),
      policy: Policy,
      effective_policy: Policy,
      subdomain_policy: Policy,
      has_reporting: z.boolean(),
    }),
    dkim: z.object({ status: MeasurementSchema, selectors: z.array(z.string()) }),
    dnssec: z.object({ status: MeasurementSchema, is_signed: z.boolean().nullable() }),
    caa: z.object({ status: MeasurementSchema, issuers: z.array(z.string()) }),
    mta_sts: present,
    tls_rpt: present,
    bimi: present,
    tls: z.object({
      status: MeasurementSchema,
      protocol: z.string().nullable(),
      is_trusted: z.boolean().nullable(),
      problem: z.string().nullable(),
      valid_to: Time.nullable(),
    }),
    factors: z.array(
      z.object({
        factor: z.string(),
        finding: z.enum(['pass', 'partial', 'fail', 'unmeasured']),
        points: z.number(),
        possible: z.number(),
      }),
    ),
    score: z.number().min(0).max(100).nullable(),
    grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']).nullable(),
    coverage: z.number().min(0).max(1),
    score_version: z.string(),
  })
  .meta({ id: 'Security', description: 'Security posture. Unmeasured factors leave the denominator of the score.' });

export const DomainReportSchema = z.object({
  domain: z.string(),
  scanned_at: Time,
  state: z.enum(['active', 'parked', 'nonexistent', 'unmeasured']),
  sector: z.string(),
  sector_source: z
    .enum(['list', 'suffix', 'page'])
    .nullable()
    .describe('What tells it: the list of whoever runs this service, the suffix, the home page.'),
  services: z.array(ServiceSchema),
  security: SecuritySchema,
  roles: z.record(z.string(), MeasurementSchema).describe('How well each role was measured by the last scan.'),
  redirects_to: z.string().nullable(),
  advisories: OpenAdvisoriesSchema,
  rulebook: z.string().describe('Version of the rules that read the evidence.'),
});

export const ChangeSchema = z
  .object({
    id: z.string(),
    at: Time.describe('When it was first observed.'),
    confirmed_at: Time.describe('When a second observation agreed.'),
    category: z.enum(CATEGORIES),
    role: z.string(),
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
  return {
    domain: profile.domain,
    scanned_at: profile.scannedAt.toISOString(),
    state: profile.state,
    sector: profile.sector,
    sector_source: profile.sectorSource ?? null,
    services: [...profile.services]
      .sort((a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category) || b.score - a.score)
      .map((service) => ({
        category: service.category,
        role: service.role,
        provider: names.nameOf(service.provider),
        provider_id: service.provider,
        confidence: service.confidence,
        first_seen: service.firstSeen.toISOString(),
        last_seen: service.lastSeen.toISOString(),
        version: service.version,
        platform: service.platform,
        evidence: service.evidence.map(({ source, value, rule }) => ({ source, value, rule })),
        explanation: sentenceOf(service, names.nameOf(service.provider)),
        kinds: [...names.kindsOf(service.provider)],
      })),
    security: securityReport(profile.security),
    roles: profile.roles,
    redirects_to: profile.redirectsTo,
    advisories,
    rulebook: profile.rulebook,
  };
}

export function changeReport(change: StoredChange, names: KnownNames): z.input<typeof ChangeSchema> {
  const name = (id: string | null) => (id === null ? null : names.nameOf(id));
  return {
    id: change.id,
    at: change.at.toISOString(),
    confirmed_at: change.confirmedAt.toISOString(),
    category: change.category,
    role: change.role,
    type: change.type,
    from: name(change.from),
    to: name(change.to),
    from_id: change.from,
    to_id: change.to,
    confidence: change.confidence,
    importance: change.importance,
  };
}

function securityReport(posture: StoredProfile['security']): z.input<typeof SecuritySchema> {
  const record = (part: { readonly status: Measurement; readonly hasRecord: boolean | null }) => ({
    status: part.status,
    has_record: part.hasRecord,
  });
  const { spf, dmarc, dkim, dnssec, caa, tls } = posture;
  return {
    spf: { status: spf.status, result: spf.result, record: spf.record, all: spf.all },
    dmarc: {
      status: dmarc.status,
      record: dmarc.record,
      policy: dmarc.policy,
      effective_policy: dmarc.effectivePolicy,
      subdomain_policy: dmarc.subdomainPolicy,
      has_reporting: dmarc.hasReporting,
    },
    dkim: { status: dkim.status, selectors: [...dkim.selectors] },
    dnssec: { status: dnssec.status, is_signed: dnssec.isSigned },
    caa: { status: caa.status, issuers: [...caa.issuers] },
    mta_sts: record(posture.mtaSts),
    tls_rpt: record(posture.tlsRpt),
    bimi: record(posture.bimi),
    tls: {
      status: tls.status,
      protocol: tls.protocol,
      is_trusted: tls.isTrusted,
      problem: tls.problem,
      valid_to: tls.validTo,
    },
    factors: posture.factors.map((factor) => ({ ...factor })),
    score: posture.score,
    grade: posture.grade,
    coverage: posture.coverage,
    score_version: posture.scoreVersion,
  };
}
