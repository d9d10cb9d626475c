// The API representation of a domain's security posture: each standard, the score by factors, and advice for the owner.
import { explainFactor, FACTORS } from '@strata/detect';
import { z } from 'zod';
import type { StoredProfile } from '../store/index.ts';
import { inSchema } from './in-schema.ts';
import { StalePartsSchema, staleParts } from './stale-report.ts';

export const MeasurementSchema = z.enum(['observed', 'absent', 'unmeasured', 'blocked']).meta({
  id: 'Measurement',
  description: 'absent: measured and not present; unmeasured: the lookup failed; blocked: access was denied.',
});

const Time = z.iso.datetime();
const Policy = z.enum(['none', 'quarantine', 'reject']).nullable();
const All = z.enum(['-all', '~all', '?all', '+all']).nullable();
/** Reasons why an intended record is invalid. */
const RECORD_PROBLEMS = ['several-records', 'unreadable-record'] as const;
const present = { status: MeasurementSchema, has_record: z.boolean().nullable() };

const SpfSchema = z.object({
  status: MeasurementSchema,
  result: z
    .enum(['valid', 'none', 'permerror', 'unmeasured'])
    .describe('permerror: receivers that evaluate the complete policy get a permanent error.'),
  record: z.string().nullable(),
  all: All.describe('The `all` term of the record.'),
  evaluation: z
    .enum(['valid', 'invalid', 'unknown', 'none', 'unmeasured'])
    .describe('Result for the policy with its includes; unknown: the lookup of an include failed.'),
  effective_all: All.describe('The effective `all` term, through `redirect=`.'),
  is_open: z.boolean().describe('Any host may send.'),
  lookups: z.int().describe('Terms that cause lookups: at most ten are allowed (RFC 7208, 4.6.4).'),
  void_lookups: z
    .int()
    .describe('Terms without an answer, as far as known: at most two are allowed (RFC 7208, 4.6.4).'),
  authorized_ipv4: z.int().describe('Addresses authorized by `ip4` terms.'),
  is_dynamic: z.boolean().describe('Has terms with macros, which depend on the sender and were not resolved.'),
  problems: z.array(z.object({ code: z.string(), at: z.string(), term: z.string() })),
  senders: z
    .array(z.object({ host: z.string(), depth: z.int() }))
    .describe('Hosts that the policy refers to; depth: the number of policies of other owners in between.'),
});

const DmarcSchema = z.object({
  status: MeasurementSchema,
  record: z.string().nullable(),
  policy: Policy.describe(
    'As evaluated by receivers: none if the published one is unreadable and reports are requested.',
  ),
  effective_policy: Policy.describe('The policy after `t=y` is applied.'),
  subdomain_policy: Policy,
  has_reporting: z.boolean(),
  found_at: z.string().nullable().describe('The domain, or the parent whose record is in force (RFC 9989, 4.10).'),
  effective_subdomain_policy: Policy,
  nonexistent_policy: Policy,
  effective_nonexistent_policy: Policy,
  is_testing: z.boolean(),
  reporting: z
    .enum(['none', 'authorized', 'unauthorized', 'unknown'])
    .describe('Whether the report hosts agree to receive reports (RFC 9990).'),
  refusing_hosts: z.array(z.string()),
  problems: z.array(z.object({ code: z.string(), term: z.string() })),
});

const DkimKeySchema = z.object({
  selector: z.string(),
  type: z.string(),
  bits: z.int().nullable(),
  is_testing: z.boolean(),
  problem: z.enum(['revoked', 'unknown-type', 'unreadable', 'sha1-only', 'not-for-mail', 'weak', 'short']).nullable(),
});

const FactorSchema = z.object({
  factor: z.enum(FACTORS),
  finding: z.enum(['pass', 'partial', 'fail', 'unmeasured']),
  stale: z.boolean().describe('Of an earlier scan: the last one could not measure it.'),
  points: z.number(),
  possible: z.number().describe('Maximum points for what was measured.'),
  weight: z.number().describe('Full points of the factor; 0: reported and not scored.'),
  id: z.string().describe('Stable name of the finding.'),
  issues: z.array(z.string()).describe('Everything that prevents full points, most severe first.'),
  evidence: z.string().nullable(),
  advice: z.string().nullable().describe('Recommended action for the owner; null if no action is needed.'),
});

export const SecuritySchema = z
  .object({
    spf: SpfSchema,
    dmarc: DmarcSchema,
    dkim: z.object({ status: MeasurementSchema, selectors: z.array(z.string()), keys: z.array(DkimKeySchema) }),
    dnssec: z.object({
      status: MeasurementSchema,
      is_signed: z.boolean().nullable(),
      algorithms: z.array(z.int()),
      is_weak: z.boolean().nullable(),
      validation: z.enum(['secure', 'insecure', 'bogus', 'unknown']),
    }),
    caa: z.object({
      status: MeasurementSchema,
      issuers: z.array(z.string()),
      wildcard_issuers: z.array(z.string()),
      is_restricted: z.boolean(),
      has_incident_contact: z.boolean(),
      unknown_critical: z.array(z.string()),
      permits_issuer: z.boolean().nullable().describe("Whether the certificate's issuer is among them."),
    }),
    mta_sts: z.object({
      ...present,
      mode: z.enum(['enforce', 'testing', 'none']).nullable(),
      max_age: z.int().nullable().describe('Seconds.'),
      problem: z
        .enum([...RECORD_PROBLEMS, 'bad-id', 'no-policy', 'bad-policy', 'mx-mismatch', 'short-max-age'])
        .nullable(),
    }),
    tls_rpt: z.object({
      ...present,
      has_address: z.boolean().nullable(),
      problem: z.enum(RECORD_PROBLEMS).nullable(),
    }),
    bimi: z.object({
      ...present,
      has_logo: z.boolean().nullable(),
      has_certificate: z.boolean().nullable(),
      is_eligible: z.boolean().nullable().describe('The DMARC policy is strict enough to show a logo.'),
    }),
    tls: z.object({
      status: MeasurementSchema,
      protocol: z.string().nullable(),
      is_trusted: z.boolean().nullable(),
      problem: z.string().nullable(),
      valid_to: Time.nullable(),
      issue: z
        .enum([
          'expired',
          'not-yet-valid',
          'name-mismatch',
          'self-signed',
          'untrusted-root',
          'incomplete-chain',
          'revoked',
          'untrusted',
        ])
        .nullable(),
      days_left: z.int().nullable().describe('Full days from the scan to the expiry of the certificate.'),
    }),
    hsts: z.object({
      status: MeasurementSchema,
      max_age: z.int().nullable().describe('Seconds.'),
      includes_subdomains: z.boolean(),
      is_preload: z.boolean(),
    }),
    headers: z
      .object({
        status: MeasurementSchema,
        content_security_policy: z.enum(['none', 'report-only', 'weak', 'strong']).nullable(),
        is_sniffing_off: z.boolean().nullable(),
        is_framing_limited: z.boolean().nullable(),
        is_referrer_careful: z.boolean().nullable(),
        has_permissions_policy: z.boolean().nullable(),
      })
      .describe('Security headers of the home page.'),
    security_txt: z.object({
      status: MeasurementSchema,
      expires: Time.nullable(),
      is_signed: z.boolean(),
      problem: z.enum(['no-contact', 'no-expiry', 'expired']).nullable(),
    }),
    factors: z.array(FactorSchema),
    stale_parts: StalePartsSchema,
    score: z.number().min(0).max(100).nullable(),
    grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']).nullable(),
    coverage: z.number().min(0).max(1),
    score_version: z.string(),
  })
  .meta({
    id: 'Security',
    description: 'Security posture. Unmeasured factors are excluded from the denominator of the score.',
  });

type SecurityReport = z.input<typeof SecuritySchema>;

const parts = SecuritySchema.shape;

const DAY_MS = 86_400_000;

/** `scannedAt`: the reference time for the remaining days of the certificate. */
export function securityReport(profile: Pick<StoredProfile, 'security' | 'stale' | 'scannedAt'>): SecurityReport {
  const { security: posture, stale, scannedAt } = profile;
  const { spf, dmarc, dkim, tls, headers } = posture;
  const daysLeft = tls.validTo === null ? null : Math.floor((Date.parse(tls.validTo) - scannedAt.getTime()) / DAY_MS);
  return {
    bimi: inSchema(parts.bimi, posture.bimi),
    caa: inSchema(parts.caa, posture.caa),
    coverage: posture.coverage,
    dkim: inSchema(parts.dkim, { ...dkim, keys: dkim.keys.map((key) => inSchema(DkimKeySchema, key)) }),
    dmarc: inSchema(parts.dmarc, { ...dmarc, problems: dmarc.problems.map(({ code, term }) => ({ code, term })) }),
    dnssec: inSchema(parts.dnssec, posture.dnssec),
    factors: posture.factors.map((each) => {
      const { factor, finding, issues, points, possible, weight } = each;
      const { advice, evidence, id } = explainFactor(posture, each);
      const isStale = stale?.security[factor] !== undefined;
      return { advice, evidence, factor, finding, id, issues: [...issues], points, possible, stale: isStale, weight };
    }),
    grade: posture.grade,
    headers: inSchema(parts.headers, { ...headers, contentSecurityPolicy: headers.csp }),
    hsts: inSchema(parts.hsts, posture.hsts),
    mta_sts: inSchema(parts.mta_sts, posture.mtaSts),
    score: posture.score,
    score_version: posture.scoreVersion,
    security_txt: inSchema(parts.security_txt, posture.securityTxt),
    spf: inSchema(parts.spf, {
      ...spf,
      voidLookups: spf.voids,
      problems: spf.problems.map(({ at, code, term }) => ({ at, code, term })),
      senders: spf.senders.map(({ depth, host }) => ({ depth, host })),
    }),
    stale_parts: staleParts(profile),
    tls: inSchema(parts.tls, { ...tls, daysLeft }),
    tls_rpt: inSchema(parts.tls_rpt, posture.tlsRpt),
  };
}
