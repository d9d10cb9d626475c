// The migrations of the stack service by number. A released migration is never changed.
import { addKeyPriority, createCounters, dropForeignTables, type Migrations, nothing } from '@strata/db';
import { createLedgerTables } from '@strata/log';
import { up as initial } from './001-initial.ts';
import { up as setsAndStreams } from './002-sets-and-streams.ts';
import { up as changesByCategory } from './003-changes-by-category.ts';
import { up as advisories } from './005-advisories.ts';
import { up as feeds } from './006-feeds.ts';
import { up as changesByConfirmation } from './010-changes-by-confirmation.ts';
import { up as scanWork } from './011-scan-work.ts';
import { up as reportViews } from './014-report-views.ts';
import { up as dayCounts } from './015-day-counts.ts';
import { up as onDemand } from './016-on-demand.ts';
import { up as changesBetween } from './017-changes-between.ts';
import { up as advisoryCounts } from './018-advisory-counts.ts';
import { up as keyUsage } from './020-key-usage.ts';
import { up as records } from './021-records.ts';
import { up as watchlists } from './022-watchlists.ts';
import { up as segments } from './023-segments.ts';
import { up as watchlistChannels } from './024-watchlist-channels.ts';
import { up as favicons } from './025-favicons.ts';
import { up as mailRoles } from './026-mail-roles.ts';
import { up as jobs } from './027-jobs.ts';
import { up as domainTimes } from './028-domain-times.ts';

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
};
