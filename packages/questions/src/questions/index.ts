// All questions, each of which is a tool.
import type { Question } from '../question.ts';
import { domainChanges, domainProfile, domainRisk, search } from './domains.ts';
import { feedDomain, feedLeaderboard, feedStatistics, recentEvents } from './feeds.ts';
import { comparison, marketShare, migrations, securityScorecard, statistics } from './markets.ts';
import { adoption, leaderboard, provider, providerCustomers, supplyChain } from './providers.ts';
import { domainRecords, pivot, recordHistory } from './records.ts';
import { advisories, affectedDomains, alerts, anomalies, enrichmentStatus } from './security.ts';

export const QUESTIONS: readonly Question[] = [
  domainProfile,
  domainChanges,
  domainRecords,
  recordHistory,
  pivot,
  domainRisk,
  search,
  provider,
  providerCustomers,
  supplyChain,
  adoption,
  leaderboard,
  marketShare,
  comparison,
  migrations,
  statistics,
  securityScorecard,
  alerts,
  anomalies,
  advisories,
  affectedDomains,
  enrichmentStatus,
  feedStatistics,
  feedLeaderboard,
  feedDomain,
  recentEvents,
];
