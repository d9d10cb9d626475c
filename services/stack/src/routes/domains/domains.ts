// Profiles of domains and the history of their providers.
import { CATEGORIES, parseDomain } from '@strata/detect';
import { type RequestContext, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { ADVISORY_TAGS, advisoriesOf } from '../../enrichment/exposure/open-advisories.ts';
import { changeKey } from '../../index/listed-changes.ts';
import { tags } from '../../index/live-index.ts';
import { ChangeSchema, changeReport, DomainReportSchema, domainReport } from '../../reports/domain-report.ts';
import { changeKeyShape, offsetParameters, pageFields, pageOf } from '../paging.ts';
import { CategoryParameter } from '../parameters.ts';

export const domainParams = z.object({
  domain: z.string().describe('A domain or any host below it, in Unicode or as A-labels.'),
});

export const getDomain = route(
  {
    method: 'GET',
    path: '/stack/v1/domains/{domain}',
    tag: 'Domains',
    summary: 'Analyzed domain profile',
    description:
      'The providers of the domain with start date, confidence and evidence, and its security posture. ' +
      'A domain that was never scanned is scanned during the request, up to 5 s; if that takes longer the answer is 404 with Retry-After.',
    params: domainParams,
    output: { kind: 'signed', schema: DomainReportSchema },
    errors: ['invalid_domain', 'unknown_domain', 'unavailable'],
    cache: (_app: StackApp, input, context) => {
      const domain = domainOf(input.domain, context);
      return { key: `domain ${domain}`, tags: [tags.domain(domain), ...ADVISORY_TAGS] };
    },
  },
  async (app, input, context) => {
    const profile = await app.onDemand.profile(app, domainOf(input.domain, context), context);
    return domainReport(profile, { names: app.names, advisories: advisoriesOf(app, profile) });
  },
);

const LIST = { name: 'changes', key: z.tuple(changeKeyShape) };

export const getDomainChanges = route(
  {
    method: 'GET',
    path: '/stack/v1/domains/{domain}/changes',
    tag: 'Domains',
    summary: 'Provider transition history of the domain',
    description:
      'Confirmed changes, newest first. A second observation confirms a change; a failed lookup never does. ' +
      '`migrated` is a change of holder in an exclusive role (mailbox, gateway, forwarding, dns, edge, origin), `reclassified` a change of the rulebook.',
    params: domainParams,
    query: z.object({
      category: CategoryParameter.optional(),
      ...offsetParameters(50),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        domain: z.string(),
        total: z.int().min(0),
        by_category: z
          .array(z.object({ category: z.enum(CATEGORIES), changes: z.int().min(1) }))
          .describe('Number of changes for every category with changes, regardless of the filter.'),
        ...pageFields,
        changes: z.array(ChangeSchema),
      }),
    },
    errors: ['invalid_domain', 'unknown_domain', 'unavailable'],
    cache: (_app: StackApp, input, context) => {
      const domain = domainOf(input.domain, context);
      const { category = '', limit, offset, cursor = '' } = input;
      return { key: `changes ${domain} ${category} ${limit} ${offset} ${cursor}`, tags: [tags.domain(domain)] };
    },
  },
  async (app, input, context) => {
    const { category } = input;
    const { domain } = await app.onDemand.profile(app, domainOf(input.domain, context), context);
    const page = pageOf(input, LIST, [domain, category]);
    const found = await app.store.domains.changes(domain, { ...page.query, ...(category && { category }) });
    const { total, byCategory } = found;
    const { rows, fields } = page.cut(found.changes, (change) => changeKey(change, 'at'));
    return {
      domain,
      total,
      by_category: CATEGORIES.flatMap((each) => {
        const count = byCategory.get(each);
        return count === undefined ? [] : [{ category: each, changes: count }];
      }),
      ...fields,
      changes: rows.map((change) => changeReport(change, app.names)),
    };
  },
);

export function domainOf(text: string, context: RequestContext<'invalid_domain'>): string {
  const parsed = parseDomain(text);
  return parsed.ok
    ? parsed.domain
    : context.refuse('invalid_domain', parsed.message, {
        errors: [{ field: 'domain', message: parsed.message }],
      });
}
