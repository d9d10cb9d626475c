// Questions about one domain, and which domains there are.
import { FACTORS, POSTURE_FLAGS, SECTORS } from '@strata/detect';
import { z } from 'zod';
import { Category, Domain, details, Name, Provider, pages, question } from '../question.ts';
import { advisoryCounts, changeLine, serviceLine } from './lines.ts';
import { joined, moment } from './text.ts';

export const domainProfile = question({
  name: 'stack_domain',
  title: 'What a domain runs',
  description:
    'Start here for one company or domain: which providers it uses (DNS, email, hosting, CDN, security, verified services …), since when, how sure that is (confidence) and on what evidence (source, value, rule), with its security posture (score 0-100, grade, findings with advice; details brings each measurement). ' +
    'A domain that was never scanned is scanned now, which takes up to 5 s; unknown_domain then says when to ask again.',
  path: '/stack/v1/domains/{domain}',
  input: z.object({
    domain: Domain,
    evidence: z.int().min(0).max(20).default(2).describe('Pieces of evidence for each service at most.'),
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
  tell: ({ domain, state, sector, scanned_at, services, security, advisories, redirects_to }) => [
    `${domain} is ${state}, sector ${sector}, scanned ${moment(scanned_at)}.${redirects_to ? ` It redirects to ${redirects_to}.` : ''}`,
    ...services.map(serviceLine),
    joined([`security score ${security.score ?? 'unknown'}`, security.grade && `grade ${security.grade}`], ', '),
    ...security.factors
      .filter(({ finding }) => finding !== 'pass')
      .map(({ factor, finding, advice }) => `- ${factor}: ${finding}.${advice ? ` ${advice}` : ''}`),
    ...advisoryCounts(advisories),
  ],
});

export const domainChanges = question({
  name: 'stack_domain_changes',
  title: "A domain's history",
  description:
    "The history of one domain's providers, newest first: who replaced whom, and when. type: added, removed, migrated (the holder of an exclusive role changed), reclassified (our rules changed, not the domain). at is when it was first seen, confirmed_at when a second scan confirmed it.",
  path: '/stack/v1/domains/{domain}/changes',
  input: z.object({ domain: Domain, category: Category.optional(), ...pages() }),
  list: { at: ['changes'], paging: 'service' },
  tell: ({ domain, total, changes }) => [
    `${domain}: ${total} changes, newest first.`,
    ...changes.map((change) => `- ${changeLine(change)}`),
  ],
});

const Flags = z
  .array(z.enum(POSTURE_FLAGS as unknown as readonly [string, ...string[]]))
  .min(1)
  .max(10);
const Score = z.int().min(0).max(100);

export const search = question({
  name: 'stack_search',
  title: 'Find domains',
  description:
    'Which domains use a provider or category, have a posture mark (flag), or hold a text in their name. All filters must hold together. total counts all that match: ask with limit 1 for "how many". A provider that nobody knows gives did_you_mean.',
  path: '/stack/v1/search',
  input: z.object({
    q: z.string().trim().min(1).max(256).describe('Any part of the domain name.').optional(),
    provider: Provider.optional(),
    category: Category.optional(),
    confidence: z
      .enum(['high', 'medium', 'low'])
      .describe('Of the service that provider and category describe, or of any.')
      .optional(),
    min_confidence: z.enum(['high', 'medium', 'low']).describe('The same, at least.').optional(),
    with: Name.describe('Another provider that is used besides.').optional(),
    sector: z.enum(SECTORS).optional(),
    state: z
      .enum(['active', 'parked', 'nonexistent', 'unmeasured', 'live'])
      .describe('live: active or parked.')
      .optional(),
    flag: Flags.describe('Marks that it must have, all of them.').optional(),
    // Not the list of them once more: an agent reads all of it.
    without: z
      .array(z.string().min(1).max(40))
      .min(1)
      .max(10)
      .describe('Marks, as in flag, of which it must have none.')
      .optional(),
    grade: z.enum(['a+', 'a', 'b', 'c', 'd', 'f']).optional(),
    score_gte: Score.optional(),
    score_lte: Score.optional(),
    ...pages(),
  }),
  list: { at: ['results'], paging: 'service' },
  tell: ({ total, results, did_you_mean }) => [
    `${total} domains match.${did_you_mean?.length ? ` Nobody knows that provider; nearest: ${did_you_mean.join(', ')}.` : ''}`,
    ...results.map(
      ({ domain, state, sector, score, services }) =>
        `- ${joined([domain, state !== 'active' && state, sector !== 'unknown' && sector, score !== null && `score ${score}`], ', ')}: ${[...new Set(services.map(({ provider }) => provider))].join(', ')}`,
    ),
  ],
});

export const domainRisk = question({
  name: 'stack_domain_risk',
  title: 'How risky a domain is, and why',
  description:
    'Risk of one domain from 0 (none) to 100, in two parts: security (mail authentication, encryption, DNS, known vulnerabilities) and vendor_concentration (how much hangs on one provider). Each factor has its weight, its risk and a finding; null means that it could not be measured.',
  path: '/stack/v1/intelligence/risk/{domain}',
  input: z.object({ domain: Domain }),
  tell: ({ domain, score, level, security, vendor_concentration, advisories }) => [
    `${domain}: risk ${score ?? 'unknown'} of 100${level ? ` (${level})` : ''}; security ${security.score ?? 'unknown'}, vendor concentration ${vendor_concentration.score ?? 'unknown'}.`,
    ...[...security.factors, ...vendor_concentration.factors].map(
      ({ factor, risk, weight, finding }) =>
        `- ${factor}: ${risk ?? 'unmeasured'} (weight ${weight}). ${finding ?? ''}`,
    ),
    ...advisoryCounts(advisories),
  ],
});
