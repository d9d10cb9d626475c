// The migrations of the stack service, in order, by their stored names; the files are by table. A released migration is never
// changed.
import { addKeyPriority, createCounters, dropForeignTables, type Migrations, nothing } from '@strata/db';
import { createLedgerTables } from '@strata/log';
import { advisories, advisoryCounts } from './advisories.ts';
import { changesBetween, changesByCategory, changesByConfirmation, mailRoles } from './changes.ts';
import { domainLeases, domainTimes, networkCountry, onDemand, scanWork } from './domains.ts';
import { feeds } from './feeds.ts';
import { initial } from './initial.ts';
import { jobs, keyUsage, segments } from './keys.ts';
import { favicons, records } from './records.ts';
import { dayCounts, reportViews } from './reports.ts';
import { setsAndStreams } from './sets-and-streams.ts';
import { watchlistChannels, watchlists } from './watchlists.ts';

const TABLES = [
  ...['settings', 'counters', 'table_sizes', 'api_keys', 'quota_usage', 'domains', 'on_demand_days', 'scan_leases'],
  ...['services', 'scans', 'scan_days', 'changes', 'change_days', 'events', 'evidence', 'stream_events', 'anomalies'],
  ...['alerts', 'advisory_sources', 'advisory_records', 'advisories', 'advisory_products', 'known_exploited'],
  ...['exploit_scores', 'advisory_changes', 'advisory_tellings', 'feeds', 'feed_moves', 'feed_items', 'named_domains'],
  ...['feed_mentions', 'feed_domains', 'ledger_head', 'ledger_leaves', 'ledger_subtrees', 'ledger_keys'],
];

/** Until 018 all services had one list of migrations: those of the other services' tables are kept by name, and do nothing. */
export const migrations: Migrations = {
  '001-initial': initial,
  '002-sets-and-streams': setsAndStreams,
  '003-changes-by-category': changesByCategory,
  '004-answers': nothing,
  '005-advisories': advisories,
  '006-feeds': feeds,
  '007-segments': nothing,
  '008-key-priority': addKeyPriority,
  '009-segment-proofs': nothing,
  '010-changes-by-confirmation': changesByConfirmation,
  '011-scan-work': scanWork,
  '012-counters': createCounters,
  '013-ledger': createLedgerTables,
  '014-report-views': reportViews,
  '015-day-counts': dayCounts,
  '016-on-demand': onDemand,
  '017-changes-between': changesBetween,
  '018-advisory-counts': advisoryCounts,
  '019-stack-tables': (db) => dropForeignTables(db, TABLES),
  '020-key-usage': keyUsage,
  '021-records': records,
  '022-watchlists': watchlists,
  '023-segments': segments,
  '024-watchlist-channels': watchlistChannels,
  '025-favicons': favicons,
  '026-mail-roles': mailRoles,
  '027-jobs': jobs,
  '028-domain-times': domainTimes,
  '029-network-country': networkCountry,
  '030-domain-leases': domainLeases,
};
