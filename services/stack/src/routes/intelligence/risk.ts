// The risk of one domain.
import { assessRisk, type ExposureInput } from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { OpenAdvisoriesSchema, openAdvisories } from '../../enrichment/exposure/advisory-report.ts';
import type { Exposure } from '../../enrichment/exposure/exposures.ts';
import { ADVISORY_TAGS, exposuresOf } from '../../enrichment/exposure/open-advisories.ts';
import { tags } from '../../index/live-index.ts';
import { StalePartsSchema, staleParts } from '../../reports/stale-report.ts';
import type { StoredProfile } from '../../store/index.ts';
import { domainOf, domainParams } from '../domains/domains.ts';

const Level = z.enum(['low', 'medium', 'high', 'critical']).nullable();
const FactorSchema = z
  .object({
    factor: z.string(),
    weight: z.number().describe('Weight in the complete profile.'),
    risk: z.int().min(0).max(100).nullable().describe('Null if unmeasured, which excludes it from the score.'),
    finding: z.string(),
  })
  .meta({ id: 'RiskFactor' });
const PartSchema = z.object({
  score: z.int().min(0).max(100).nullable(),
  level: Level,
  factors: z.array(FactorSchema),
});
const SecurityPartSchema = PartSchema.extend({ stale_parts: StalePartsSchema });

export const getRisk = route(
  {
    method: 'GET',
    path: '/stack/v1/intelligence/risk/{domain}',
    tag: 'Intelligence',
    summary: 'Domain risk profile: security plus vendor concentration',
    description:
      '0 is no risk, 100 the maximum; low below 25, medium below 50, high below 75, else critical. A domain that was never scanned is scanned during the request, as for its profile.',
    params: domainParams,
    output: {
      kind: 'signed',
      schema: z.object({
        domain: z.string(),
        scanned_at: z.iso.datetime(),
        score: z.int().min(0).max(100).nullable(),
        level: Level,
        security: SecurityPartSchema,
        advisories: OpenAdvisoriesSchema,
        vendor_concentration: PartSchema,
        method: z.string(),
      }),
    },
    errors: ['invalid_domain', 'unknown_domain', 'unavailable'],
    cache: (_app: StackApp, input, context) => {
      const domain = domainOf(input.domain, context);
      // The underlying markets change slowly: maximum age of an answer.
      return { key: `risk ${domain}`, tags: [tags.domain(domain), ...ADVISORY_TAGS], maxAgeMs: 60_000 };
    },
  },
  async (app, input, context) => {
    const profile = await app.onDemand.profile(app, domainOf(input.domain, context), context);
    const { names } = app;
    const exposures = exposuresOf(app, profile);
    const services = profile.services.map(({ category, provider, confidence, role }) => ({
      role: names.roleOf(category, provider, role),
      provider,
      isFirm: confidence !== 'low',
    }));
    const roles = [...new Set(services.map(({ role }) => role))];
    const markets = await app.analytics.markets({ categories: [], roles, ownerOf: names.ownerOf });
    const risk = assessRisk({
      posture: profile.security,
      services,
      ownerOf: names.ownerOf,
      exposure: exposures ? exposureInput(app, profile, exposures) : null,
      hhiOf: (role) => {
        const market = markets.roles.find((each) => each.role === role);
        return market && market.band !== 'insufficient_data' ? market.hhi : null;
      },
    });
    const part = ({ score, level, factors }: typeof risk.security) => ({
      score,
      level,
      factors: factors.map((each) => ({ ...each })),
    });
    return {
      domain: profile.domain,
      scanned_at: profile.scannedAt.toISOString(),
      score: risk.score,
      level: risk.level,
      security: { ...part(risk.security), stale_parts: staleParts(profile) },
      advisories: exposures ? openAdvisories(exposures, app) : null,
      vendor_concentration: part(risk.vendorConcentration),
      method: 'Weighted mean of the measured factors; unmeasured factors are excluded.',
    };
  },
);

function exposureInput({ exposures }: StackApp, { services }: StoredProfile, all: readonly Exposure[]): ExposureInput {
  const products = new Set(exposures.advisories.products);
  const affected = all.filter(({ isAffected }) => isAffected);
  const exploited = affected.filter(({ entry }) => entry.exploited !== null).length;
  const count = (severity: string) => affected.filter(({ entry }) => entry.advisory.severity === severity).length;
  const [critical, high] = [count('critical'), count('high')];
  return {
    hasProduct: services.some(({ provider, confidence }) => confidence !== 'low' && products.has(provider)),
    exploited,
    critical,
    high,
    other: affected.length - critical - high,
    possiblyExploited: all.filter(({ entry, isAffected }) => !isAffected && entry.exploited !== null).length,
  };
}
