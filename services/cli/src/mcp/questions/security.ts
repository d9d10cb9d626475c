// Questions about what stands out and what is vulnerable.
import { z } from 'zod';
import { Domain, firstPages, Name, pages, question, Severity } from '../question.ts';
import { joined, moment, quoted } from './text.ts';

export const alerts = question({
  name: 'stack_alerts',
  title: 'What stands out today',
  description:
    'The newest alerts: many migrations away from a provider, anomalies, exploited vulnerabilities, postures that fell. Each has a severity, a title and a detail. Ask it for "what is new?", then follow up with the tool for its domain or provider.',
  path: '/stack/v1/alerts',
  input: z.object(firstPages()),
  list: { at: ['alerts'], paging: 'limit' },
  tell: ({ total, alerts: told }) => [
    `${total} alerts.`,
    ...told.map(
      ({ at, severity, kind, title, detail }) => `- ${moment(at)} ${severity} (${kind}): ${title}. ${detail}`,
    ),
  ],
});

export const anomalies = question({
  name: 'stack_anomalies',
  title: 'Unusual days',
  description:
    'Days on which a number of a provider, category or domain deviated by 3 sigma or more from the window_days before: value against mean and stddev. An empty list is good news.',
  path: '/stack/v1/anomalies',
  input: z.object({ domain: Domain.optional(), ...firstPages() }),
  list: { at: ['anomalies'], paging: 'limit' },
  tell: ({ total, anomalies: found }) => [
    `${total} anomalies.`,
    ...found.map(
      (each) =>
        `- ${moment(each.at)} ${each.subject} ${each.metric} ${each.direction}: ${each.value} against ${each.mean.toFixed(1)} (${each.sigma.toFixed(1)} sigma, ${each.severity})`,
    ),
  ],
});

const exploited = z.boolean().describe("Only those that are (or are not) in CISA's list of exploited ones.").optional();
const advisory = Name.describe('Only this advisory: a CVE or GHSA id.').optional();

export const advisories = question({
  name: 'stack_advisories',
  title: 'Known vulnerabilities',
  description:
    'Published vulnerabilities of products that the scanned domains use, most urgent first: CVSS, EPSS (chance of being exploited), known_exploited, priority (act, attend, track), and how many domains run an affected version (domains.version) or the product in an unknown version (domains.product): never add the two. Give advisory for one CVE.',
  path: '/stack/v1/enrichment/advisories',
  input: z.object({ severity: Severity.optional(), known_exploited: exploited, advisory, ...pages(5) }),
  list: { at: ['advisories'], paging: 'service' },
  tell: ({ total, advisories: found }) => [
    `${total} advisories.`,
    ...found.map((each) => {
      const products = each.products.map(({ product, version_range }) => joined([product, version_range], ' '));
      return `- ${each.id} ${each.severity ?? 'unrated'}${each.cvss === null ? '' : `, CVSS ${each.cvss}`}${each.known_exploited ? ', exploited' : ''}: ${quoted(each.title ?? '')} in ${products.join(', ')}; ${each.domains.version} domains by version, ${each.domains.product} by product only`;
    }),
  ],
});

export const affectedDomains = question({
  name: 'stack_affected_domains',
  title: 'Which domains are affected',
  description:
    'Domains and the vulnerabilities that concern them, most urgent first. match version: the version seen is in the affected range; match product: the product is used and its version unknown, which is no claim that it is affected. Filter by domain, advisory, severity.',
  path: '/stack/v1/enrichment/affected',
  input: z.object({
    domain: Domain.optional(),
    severity: Severity.optional(),
    match: z.enum(['version', 'product']).optional(),
    known_exploited: exploited,
    advisory,
    ...pages(),
  }),
  list: { at: ['affected'], paging: 'service' },
  tell: ({ total, domains, affected }) => [
    `${total} pairs of domain and vulnerability; ${domains.version} domains by version, ${domains.product} by product only.`,
    ...affected.map(
      (each) =>
        `- ${each.domain}: ${each.id} ${each.severity ?? 'unrated'}${each.known_exploited ? ', exploited' : ''}, ${each.product}${each.version ? ` ${quoted(each.version)}` : ''} (${each.match}${each.version_range ? `, affected ${each.version_range}` : ''})`,
    ),
  ],
});

export const enrichmentStatus = question({
  name: 'stack_enrichment_status',
  title: 'How current vulnerability data is',
  description:
    'Which sources of vulnerabilities have been read, when, and how many domains show a product or a version. Ask it before you conclude from an empty list that nothing is affected.',
  path: '/stack/v1/enrichment/status',
  input: z.object({}),
  tell: ({ sources, advisories: known, coverage }) => [
    `${known.total} advisories, ${known.known_exploited} known to be exploited; of ${coverage.domains.total} domains ${coverage.domains.with_product} show a product and ${coverage.domains.with_version} a version.`,
    ...sources.map(
      ({ source, state, last_sync, records, error }) =>
        `- ${source}: ${state}, ${records} records, last read ${moment(last_sync)}${error ? `; ${quoted(error)}` : ''}`,
    ),
  ],
});
