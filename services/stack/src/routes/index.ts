// The API: every route, in the order of the reference.
import type { Route } from '@strata/http';
import type { StackApp } from '../context.ts';
import { getCustomers, getCustomersCsv } from './customers.ts';
import { getOpenApi, getProblem } from './description.ts';
import { getDomain, getDomainChanges } from './domains.ts';
import { getAdvisories, getAffected, getEnrichmentStatus } from './enrichment.ts';
import { getMigrationsCsv, getProviderDomainsCsv, getSecurityCsv } from './exports.ts';
import { getFeedDomain, getFeedLeaders, getFeedStats } from './feeds.ts';
import { getAdoption, getMarketShare, getScorecard, getSupplyChain } from './intelligence.ts';
import { createKey, getKeySet } from './keys.ts';
import { getCheckpoint, getLedgerProof, getLedgerReceipt, getTile } from './ledger.ts';
import { getMigrations } from './migrations.ts';
import { getAlerts, getAnomalies } from './monitoring.ts';
import { getProvider } from './providers.ts';
import { getRisk } from './risk.ts';
import { getSearch } from './search.ts';
import { getLeaders, getStats } from './statistics.ts';
import { getHealth } from './status.ts';
import { getStream, getStreamJson } from './streams.ts';

export const routes: readonly Route<StackApp>[] = [
  getHealth,
  createKey,
  getKeySet,
  getDomain,
  getDomainChanges,
  getSearch,
  getStats,
  getLeaders,
  getMigrations,
  getAlerts,
  getAnomalies,
  getScorecard,
  getMarketShare,
  getSupplyChain,
  getAdoption,
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
  getProvider,
  getCustomers,
  getStream,
  getStreamJson,
  getCheckpoint,
  getTile,
  getLedgerReceipt,
  getLedgerProof,
  getOpenApi,
  getProblem,
];
