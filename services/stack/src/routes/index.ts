// The API: every route, in the order of the reference, and the description of them all.
import { ledgerRoutes, openApiDocument, type Route } from '@strata/http';
import type { OpenApi, StackApp } from '../context.ts';
import { apiInfo } from '../roles/api-info.ts';
import { getOpenApi, getProblem } from './description.ts';
import { getAlerts, getAnomalies } from './domains/alerts.ts';
import { getDomain, getDomainChanges } from './domains/domains.ts';
import { getMigrationsCsv, getProviderDomainsCsv, getSecurityCsv } from './domains/exports.ts';
import { postLookup } from './domains/lookup.ts';
import { postQuery } from './domains/query.ts';
import { getSearch } from './domains/search.ts';
import { getAdvisories, getAffected, getEnrichmentStatus } from './enrichment.ts';
import examples from './examples.json' with { type: 'json' };
import { exportRoutes } from './exports/exports.ts';
import { getJob, getJobFile, getJobs, postLookups } from './exports/jobs.ts';
import { getFeedDomain, getFeedLeaders, getFeedStats } from './feeds.ts';
import { getHealth } from './health.ts';
import { getAdoption } from './intelligence/adoption.ts';
import { getMarketShare } from './intelligence/market-share.ts';
import { getRisk } from './intelligence/risk.ts';
import { getScorecard } from './intelligence/security-scorecard.ts';
import { getSupplyChain } from './intelligence/supply-chain.ts';
import { createKey, getKeySet, getUsage } from './keys.ts';
import { getCustomers, getCustomersCsv } from './market/customers.ts';
import { getMigrations } from './market/migrations.ts';
import { getProvider } from './market/providers.ts';
import { getLeaders, getStats } from './market/statistics.ts';
import { getRecords } from './records/domain-records.ts';
import { getPivot } from './records/pivot.ts';
import { getRecordHistory } from './records/record-history.ts';
import { getComparison } from './segments/comparison.ts';
import { deleteSegment, getSegment, getSegments, putSegment } from './segments/segments.ts';
import { getStream, getStreamJson } from './streams.ts';
import { getDeliveries, getNotifications, replayDelivery, testWatchlist } from './watchlists/deliveries.ts';
import { getWatchlistFeed } from './watchlists/feed.ts';
import {
  createWatchlist,
  deleteWatchlist,
  getWatchlist,
  getWatchlists,
  putWatchlist,
} from './watchlists/watchlists.ts';

export const routes: readonly Route<StackApp>[] = [
  getHealth,
  createKey,
  getUsage,
  getKeySet,
  getDomain,
  postLookup,
  postLookups,
  getDomainChanges,
  getRecords,
  getRecordHistory,
  getPivot,
  getSearch,
  postQuery,
  getSegments,
  getSegment,
  putSegment,
  deleteSegment,
  getStats,
  getLeaders,
  getMigrations,
  getAlerts,
  getAnomalies,
  getScorecard,
  getMarketShare,
  getSupplyChain,
  getAdoption,
  getComparison,
  getRisk,
  getEnrichmentStatus,
  getAdvisories,
  getAffected,
  getFeedStats,
  getFeedLeaders,
  getFeedDomain,
  getSecurityCsv,
  getMigrationsCsv,
  getProviderDomainsCsv,
  getCustomersCsv,
  ...exportRoutes,
  getJobs,
  getJob,
  getJobFile,
  getProvider,
  getCustomers,
  getStream,
  getStreamJson,
  createWatchlist,
  getWatchlists,
  getWatchlist,
  putWatchlist,
  deleteWatchlist,
  testWatchlist,
  getNotifications,
  getDeliveries,
  replayDelivery,
  getWatchlistFeed,
  ...ledgerRoutes,
  getOpenApi,
  getProblem,
];

let openApi: OpenApi | undefined;

/** The OpenAPI document of the service, without starting it; created once. */
export function stackOpenApi(): OpenApi {
  openApi ??= openApiDocument(routes, apiInfo, examples) as OpenApi;
  return openApi;
}
