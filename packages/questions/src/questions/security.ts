// Questions about alerts, anomalies and vulnerabilities.
import { z } from 'zod';
import { cursorPages, Domain, Name, pages, question, Severity, windowOf } from '../question.ts';
import { joined, moment, quoted } from './text.ts';

export const alerts = question({
  name: 'stack_alerts',
  title: 'Latest alerts',
  description:
    'The latest alerts: many migrations away from a provider, anomalies, exploited vulnerabilities, lower security scores. Each has a severity, a title and a detail. Start here for "what is new?", then use the tool for the domain or provider.',
  path: '/stack/v1/alerts',
  input: z.object({ ...windowOf(365), ...cursorPages() }),
  list: { at: ['alerts'], paging: 'service' },
  summarize: ({ total, alerts: latest }) => [
    `${total} alerts.`,
    ...latest.map(
      ({ at, severity, kind, title, detail }) => `- ${moment(at)} ${severity} (${kind}): ${title}. ${detail}`,
    ),
  ],
});

export const anomalies = question({
  name: 'stack_anomalies',
  title: 'Anomalies',
  description:
    'Days on which a metric of a provider, category or domain deviated by 3 sigma or more from the previous window_days: value, mean and stddev. An empty list means that there were no anomalies.',
  path: '/stack/v1/anomalies',
  input: z.object({ domain: Domain.optional(), ...windowOf(365), ...cursorPages() }),
  list: { at: ['anomalies'], paging: 'service' },
  summarize: ({ total, anomalies: found }) => [
    `${total} anomalies.`,
    ...found.map(
      (each) =>
        `- ${moment(each.at)} ${each.subject} ${each.metric} ${each.direction}: ${each.value} against ${each.mean.toFixed(1)} (${each.sigma.toFixed(1)} sigma, ${each.severity})`,
    ),
  ],
});

const exploited = z.boolean().describe("Only advisories that are (or are not) in CISA's KEV catalog.").optional();
const advisory = Name.describe('Only this advisory: a CVE or GHSA id.').optional();

export const advisories = question({
  name: 'stack_advisories',
  title: 'Known vulnerabilities',
  description:
    'Published vulnerabilities of products that the scanned domains use, most urgent first: CVSS, EPSS (chance of being exploited), known_exploited, priority (act, attend, track), and how many domains run an affected version (domains.version) or the product in an unknown version (domains.product): do not add the two numbers. Set advisory for one CVE.',
  path: '/stack/v1/enrichment/advisories',
  input: z.object({ severity: Severity.optional(), known_exploited: exploited, advisory, ...pages(5) }),
  list: { at: ['advisories'], paging: 'service' },
  summarize: ({ total, advisories: found }) => [
    `${total} advisories.`,
    ...found.map((each) => {
      const products = each.products.map(({ product, version_range }) => joined([product, version_range], ' '));
      return `- ${each.id} ${each.severity ?? 'unrated'}${each.cvss === null ? '' : `, CVSS ${each.cvss}`}${each.known_exploited ? ', exploited' : ''}: ${quoted(each.title ?? '')} in ${products.join(', ')}; ${each.domains.version} domains by version, ${each.domains.product} by product only`;
    }),
  ],
});

export const affectedDomains = question({
  name: 'stack_affected_domains',
  title: 'Affected domains',
  description:
    'Domains with vulnerabilities that possibly affect them, most urgent first. match version: the detected version is in the affected range; match product: the product is used in an unknown version, which does not mean that it is affected. Filter by domain, advisory, severity.',
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
  summarize: ({ total, domains, affected }) => [
    `${total} pairs of domain and vulnerability; ${domains.version} domains by version, ${domains.product} by product only.`,
    ...affected.map(
      (each) =>
        `- ${each.domain}: ${each.id} ${each.severity ?? 'unrated'}${each.known_exploited ? ', exploited' : ''}, ${each.product}${each.version ? ` ${quoted(each.version)}` : ''} (${each.match}${each.version_range ? `, affected ${each.version_range}` : ''})`,
    ),
  ],
});

export const enrichmentStatus = question({
  name: 'stack_enrichment_status',
  title: 'Freshness of vulnerability data',
  description:
    'The vulnerability sources with the time of their last sync, and the number of domains with a detected product or version. Use it before you conclude from an empty list that nothing is affected.',
  path: '/stack/v1/enrichment/status',
  input: z.object({}),
  summarize: ({ sources, advisories: known, coverage }) => [
    `${known.total} advisories, ${known.known_exploited} known to be exploited; of ${coverage.domains.total} domains, ${coverage.domains.with_product} have a detected product and ${coverage.domains.with_version} a version.`,
    ...sources.map(
      ({ source, state, last_sync, records, error }) =>
        `- ${source}: ${state}, ${records} records, last sync ${moment(last_sync)}${error ? `; ${quoted(error)}` : ''}`,
    ),
  ],
});
