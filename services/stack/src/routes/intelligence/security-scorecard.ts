// Adoption of security standards across all domains, and by sector.
import { type Adoption, COUNTED_STANDARDS } from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import { populationCache, queryParameter, selectionOf } from '../query-parameter.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

const AdoptionSchema = z.object({ domains: count, measured: count, share: share.nullable() }).meta({
  id: 'Adoption',
  description: 'Number of domains with the standard, and of domains in which it could be measured.',
});
const Standards = z.object(
  Object.fromEntries(COUNTED_STANDARDS.map((name) => [name, AdoptionSchema])) as Record<
    (typeof COUNTED_STANDARDS)[number],
    typeof AdoptionSchema
  >,
);

export const getScorecard = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/security-scorecard',
    tag: 'Intelligence',
    summary: 'DMARC and SPF adoption across all domains',
    description:
      'Each standard is counted among the domains with a successful lookup. `spf_fail` is `-all`, `spf_softfail` `~all`, `spf_neutral` `?all`, `spf_pass` `+all`; `dmarc_reject` is as published, `dmarc_effective_reject` after `t=y` is applied (RFC 9989).',
    query: z.object(queryParameter),
    output: {
      kind: 'signed',
      schema: z.object({
        domains: count.describe('Domains that exist, parked ones included.'),
        adoption: Standards,
        both: AdoptionSchema.describe('Domains with both valid SPF and a DMARC policy.'),
        by_sector: z.array(
          z.object({ sector: z.string(), domains: count, adoption: Standards, mean_score: z.number().nullable() }),
        ),
        grades: z.array(z.object({ grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']), domains: count })),
        scored: count,
        mean_score: z.number().nullable(),
        method: z.string(),
      }),
    },
    errors: ['unavailable'],
    cache: (_app: StackApp, input) => populationCache(input, { key: 'scorecard', tags: [...tags.domains] }),
  },
  async (app, input) => {
    const card = await app.analytics.scorecard({ within: selectionOf(app, input) });
    const adoption = (of: Readonly<Record<string, Adoption>>) =>
      Object.fromEntries(COUNTED_STANDARDS.map((name) => [name, { ...(of[name] as Adoption) }])) as z.input<
        typeof Standards
      >;
    return {
      domains: card.domains,
      adoption: adoption(card.adoption),
      both: { ...card.both },
      by_sector: card.bySector.map((each) => ({
        sector: each.sector,
        domains: each.domains,
        adoption: adoption(each.adoption),
        mean_score: each.meanScore,
      })),
      grades: card.grades as z.input<typeof AdoptionSchema> & { grade: 'A'; domains: number }[],
      scored: card.scored,
      mean_score: card.meanScore,
      method: 'share = domains / measured; a failed lookup counts in neither; docs/detection.md explains the score',
    };
  },
);
