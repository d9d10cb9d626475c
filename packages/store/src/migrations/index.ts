// All migrations by number. A released migration is never changed.
import { addKeyPriority, createCounters, type Migrations } from '@strata/db';
import { up as initial } from './001-initial.ts';
import { up as setsAndStreams } from './002-sets-and-streams.ts';
import { up as changesByCategory } from './003-changes-by-category.ts';
import { up as answers } from './004-answers.ts';
import { up as advisories } from './005-advisories.ts';
import { up as feeds } from './006-feeds.ts';
import { up as segments } from './007-segments.ts';
import { up as segmentProofs } from './009-segment-proofs.ts';
import { up as changesByConfirmation } from './010-changes-by-confirmation.ts';
import { up as scanWork } from './011-scan-work.ts';
import { up as ledger } from './013-ledger.ts';
import { up as reportViews } from './014-report-views.ts';
import { up as dayCounts } from './015-day-counts.ts';
import { up as onDemand } from './016-on-demand.ts';
import { up as changesBetween } from './017-changes-between.ts';
import { up as advisoryCounts } from './018-advisory-counts.ts';

export const migrations: Migrations = {
  '001-initial': initial,
  '002-sets-and-streams': setsAndStreams,
  '003-changes-by-category': changesByCategory,
  '004-answers': answers,
  '005-advisories': advisories,
  '006-feeds': feeds,
  '007-segments': segments,
  '008-key-priority': addKeyPriority,
  '009-segment-proofs': segmentProofs,
  '010-changes-by-confirmation': changesByConfirmation,
  '011-scan-work': scanWork,
  '012-counters': createCounters,
  '013-ledger': ledger,
  '014-report-views': reportViews,
  '015-day-counts': dayCounts,
  '016-on-demand': onDemand,
  '017-changes-between': changesBetween,
  '018-advisory-counts': advisoryCounts,
};
