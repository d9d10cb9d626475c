// Runs the most expensive requests before the server listens: the code is then compiled and the data is in memory.
import { type WarmUpRequest, warmUp } from '@strata/http';
import type { Logger } from 'pino';
import type { StackApp } from '../context.ts';
import { getAlerts, getAnomalies } from '../routes/domains/alerts.ts';
import { getMigrationsCsv, getProviderDomainsCsv, getSecurityCsv } from '../routes/domains/exports.ts';
import { getSearch } from '../routes/domains/search.ts';
import { getAdvisories, getAffected } from '../routes/enrichment.ts';
import { getFeedLeaders } from '../routes/feeds.ts';
import { getAdoption } from '../routes/intelligence/adoption.ts';
import { getMarketShare } from '../routes/intelligence/market-share.ts';
import { getScorecard } from '../routes/intelligence/security-scorecard.ts';
import { getSupplyChain } from '../routes/intelligence/supply-chain.ts';
import { getMigrations } from '../routes/market/migrations.ts';
import { getProvider } from '../routes/market/providers.ts';
import { getLeaders, getStats } from '../routes/market/statistics.ts';

/** The compiler optimizes after the first round. */
const ROUNDS = 2;

/** Failures are only logged: clients would get the same error. */
export async function warmUpRoutes(app: StackApp, logger: Logger): Promise<void> {
  const startedAt = performance.now();
  try {
    for (let round = 0; round < ROUNDS; round += 1) await warmUp(app, app.ledger.rehearsal, await requests(app));
    logger.debug({ ms: Math.round(performance.now() - startedAt) }, 'warm-up requests done');
  } catch (error) {
    logger.warn({ err: error }, 'warm-up requests failed');
  }
}

async function requests({ analytics, exposures }: StackApp): Promise<readonly WarmUpRequest<StackApp>[]> {
  const max = { limit: '1000' };
  const [leader] = (await analytics.leaders({ today: 0, limit: 1 })).leaders;
  const provider = leader?.provider ?? '';
  return [
    { route: getSearch, query: max },
    // Most names contain it: the most expensive search.
    { route: getSearch, query: { q: '.com' } },
    { route: getStats },
    { route: getLeaders },
    { route: getMigrations, query: max },
    { route: getAlerts, query: max },
    { route: getAnomalies, query: max },
    { route: getScorecard },
    { route: getMarketShare },
    { route: getFeedLeaders, query: max },
    ...(exposures.isLoaded
      ? [
          { route: getAdvisories, query: max },
          { route: getAffected, query: max },
        ]
      : []),
    { route: getSecurityCsv },
    { route: getMigrationsCsv },
    ...(leader
      ? [
          { route: getSupplyChain, params: { provider } },
          { route: getAdoption, params: { tool: provider } },
          { route: getProvider, params: { provider } },
          { route: getProviderDomainsCsv, params: { provider } },
        ]
      : []),
  ];
}
