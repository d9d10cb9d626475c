// Questions about a domain, and the search for domains.
import { FACTORS, POSTURE_FLAGS, SECTORS } from '@strata/detect';
import { z } from 'zod';
import { Category, Domain, details, Name, Provider, pages, Query, question, Role } from '../question.ts';
import { advisoryCounts, changeLine, serviceLine } from './lines.ts';
import { joined, moment } from './text.ts';

export const domainProfile = question({
  name: 'stack_domain',
  title: 'Technology profile of a domain',
  description:
    'Start here for a company or domain: the providers it uses (DNS, email, hosting, CDN, security, verified services …), since when, with confidence and evidence (source, value, rule), and its security posture (score 0-100, grade, findings with advice; details adds each measurement). ' +
    'A domain that was never scanned is scanned now, which takes up to 5 s; the error unknown_domain says when to retry.',
  path: '/stack/v1/domains/{domain}',
  input: z.object({
    domain: Domain,
    evidence: z.int().min(0).max(20).default(2).describe('Maximum pieces of evidence for each service.'),
    ...details,
  }),
  details: [
    ...['sector_source', 'roles', 'rulebook', 'services[].provider_id', 'services[].kinds', 'services[].explanation'],
    ...FACTORS.map((standard) => `security.${standard}`),
    ...['points', 'possible', 'issues', 'evidence'].map((field) => `security.factors[].${field}`),
    ...['cvss', 'epss', 'published', 'reason', 'product_id', 'range_source', 'platform'].map(
      (field) => `advisories.top[].${field}`,
    ),
  ],
  cuts: { evidence: 'evidence' },
  summarize: ({ domain, state, sector, scanned_at, services, security, advisories, redirects_to, stale_roles }) => [
    `${domain} is ${state}, sector ${sector}, scanned ${moment(scanned_at)}.${redirects_to ? ` It redirects to ${redirects_to}.` : ''}`,
    ...services.map(serviceLine),
    joined([`security score ${security.score ?? 'unknown'}`, security.grade && `grade ${security.grade}`], ', '),
    ...staleLines([...stale_roles.map(({ role }) => role), ...security.stale_parts.map(({ part }) => part)]),
    ...security.factors
      .filter(({ finding }) => finding !== 'pass')
      .map(({ factor, finding, advice }) => `- ${factor}: ${finding}.${advice ? ` ${advice}` : ''}`),
    ...advisoryCounts(advisories),
  ],
});

const staleLines = (names: readonly string[]) =>
  names.length === 0 ? [] : [`The last scan could not measure ${names.join(', ')}: values of an earlier scan.`];

export const domainChanges = question({
  name: 'stack_domain_changes',
  title: 'Change history of a domain',
  description:
    'The provider changes of a domain, newest first. type: added, removed, migrated (the provider of an exclusive role changed), reclassified (the detection rules changed, not the domain). at is the time of the first observation, confirmed_at that of the second scan, which confirmed it.',
  path: '/stack/v1/domains/{domain}/changes',
  input: z.object({ domain: Domain, category: Category.optional(), ...pages() }),
  list: { at: ['changes'], paging: 'service' },
  summarize: ({ domain, total, changes }) => [
    `${domain}: ${total} changes, newest first.`,
    ...changes.map((change) => `- ${changeLine(change)}`),
  ],
});

/** A moment would take more space of an agent. */
const day = (time: string) => time.slice(0, 10);

const Flags = z
  .array(z.enum(POSTURE_FLAGS as unknown as readonly [string, ...string[]]))
  .min(1)
  .max(10);
const Score = z.int().min(0).max(100);

export const search = question({
  name: 'stack_search',
  title: 'Search domains',
  description:
    'Domains that use a provider or category, have a posture flag, or contain a text in their name. Filters are combined with AND. total is the number of matches: use limit 1 to count. The error for an unknown provider has suggestions.',
  path: '/stack/v1/search',
  input: z.object({
    q: z
      .string()
      .trim()
      .min(1)
      .max(256)
      .describe('Any part of the domain name, or several, separated by blanks.')
      .optional(),
    provider: Provider.optional(),
    category: Category.optional(),
    role: Role.optional(),
    confidence: z
      .enum(['high', 'medium', 'low'])
      .describe('Confidence of the service that provider and category select, or of any service.')
      .optional(),
    min_confidence: z.enum(['high', 'medium', 'low']).describe('Minimum confidence.').optional(),
    with: Name.describe('A second provider that the domain also uses.').optional(),
    sector: z.enum(SECTORS).optional(),
    state: z
      .enum(['active', 'parked', 'nonexistent', 'unmeasured', 'live'])
      .describe('live: active or parked.')
      .optional(),
    flag: Flags.describe('Flags that the domain must have, all of them.').optional(),
    // No enum: the list of flags is in the schema once already, and an agent reads all of it.
    without: z
      .array(z.string().min(1).max(40))
      .min(1)
      .max(10)
      .describe('Flags, as in flag, that the domain must not have.')
      .optional(),
    grade: z.enum(['a+', 'a', 'b', 'c', 'd', 'f']).optional(),
    score_gte: Score.optional(),
    score_lte: Score.optional(),
    query: Query.describe(
      'AND, OR, NOT, (), *: email:google-workspace AND NOT dmarc:reject AND (tld:de OR score:<60). ' +
        'Fields: provider, email …, domain, tld, sector, state, grade, score, scanned, first_seen (2026-10..2026-11), changed_since (7d), dmarc, spf, mta_sts, dnssec, tls, flag.',
    ).optional(),
    sort: z
      .enum(['name', ...['score', 'scanned_at', 'first_seen', 'changed_at'].flatMap((by) => [by, `-${by}`])])
      .describe('- is descending.')
      .optional(),
    facets: z
      .array(z.string().min(1).max(40))
      .min(1)
      .max(5)
      .describe('Counts by provider, role, tld, grade …')
      .optional(),
    ...pages(),
  }),
  list: { at: ['results'], paging: 'service' },
  summarize: ({ total, results, facets = [] }) => [
    `${total} domains match${results.length > 0 && results.length < total ? `; the first ${results.length}:` : '.'}`,
    ...facets.map(
      ({ facet, values }) => `By ${facet}: ${values.map((each) => `${each.name} ${each.domains}`).join(', ')}.`,
    ),
    ...results.map(
      ({ domain, state, sector, score, services, first_seen, changed_at }) =>
        `- ${joined([domain, state !== 'active' && state, sector !== 'unknown' && sector, score !== null && `score ${score}`, `first seen ${day(first_seen)}`, changed_at !== null && `changed ${day(changed_at)}`], ', ')}: ${[...new Set(services.map(({ provider }) => provider))].join(', ')}`,
    ),
  ],
});

export const domainRisk = question({
  name: 'stack_domain_risk',
  title: 'Risk of a domain',
  description:
    'Risk of a domain from 0 (none) to 100, in two parts: security (mail authentication, encryption, DNS, known vulnerabilities) and vendor_concentration (dependence on one provider). Each factor has a weight, a risk and a finding; null means not measurable.',
  path: '/stack/v1/intelligence/risk/{domain}',
  input: z.object({ domain: Domain }),
  summarize: ({ domain, score, level, security, vendor_concentration, advisories }) => [
    `${domain}: risk ${score ?? 'unknown'} of 100${level ? ` (${level})` : ''}; security ${security.score ?? 'unknown'}, vendor concentration ${vendor_concentration.score ?? 'unknown'}.`,
    ...[...security.factors, ...vendor_concentration.factors].map(
      ({ factor, risk, weight, finding }) =>
        `- ${factor}: ${risk ?? 'unmeasured'} (weight ${weight}). ${finding ?? ''}`,
    ),
    ...advisoryCounts(advisories),
  ],
});
