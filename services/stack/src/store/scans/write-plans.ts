// Converts planned scans into queries, one for each table. Numbers are assigned in scan order; a row that refers to another new row
// counts back from the last one (json-rows.ts), so that no query waits for the result of another.

import { type JsonColumns, valuesOf } from '@strata/db';
import type { ScanPlan, ScanRecord, ServiceChange } from '@strata/detect';
import type { QueryResult } from 'kysely';
import { changeId } from '../domains/domains.ts';
import * as COLUMNS from './scan-columns.ts';
import { changeEvents, differenceEvents, type NewEvent } from './scan-events.ts';
import {
  begunRow,
  packed,
  publishedRow,
  recordRow,
  type StoredDomain,
  scanRow,
  serviceRow,
  updateRow,
} from './scan-rows.ts';
import type { ScanStatements, Write } from './scan-statements.ts';

export interface Plan {
  readonly scan: ScanRecord;
  readonly stored: StoredDomain;
  readonly plan: ScanPlan;
}

/** In execution order. */
export interface ScanWrites {
  /** The rows of the domains of the plans alone. */
  readonly own: readonly Write[];
  /** The rows of logs, and what is counted over all domains. */
  readonly numbered: readonly Write[];
  readonly addsDomains: boolean;
  /** The changes of each plan with their numbers, from the results of `numbered`. */
  changesOf(results: readonly QueryResult<unknown>[]): (readonly (ServiceChange & { readonly id: string })[])[];
}

/** A plan with the ids of the rows that it refers to. */
interface NumberedPlan extends Plan {
  readonly domainId: number;
  readonly scanId: number;
  /** In the order of the changes. */
  readonly changeIds: readonly number[];
}

/** The plans must be of different domains, and based on what the transaction sees. */
export function scanWrites(statements: ScanStatements, plans: readonly Plan[]): ScanWrites {
  const numbered = numberPlans(plans);
  const added = plans.filter(({ stored }) => stored.row === undefined);
  const own = [
    // A domain without a list is due at the time of its scan.
    ...statements.addDomains(added.map(({ plan }) => [plan.profile.domain, 'on-demand', plan.observedAt, 0])),
    ...intervalQueries(statements, numbered),
    ...recordQueries(statements, numbered),
    ...statements.keepEvidence(
      numbered.flatMap(({ scan: { evidence }, plan: { keepsEvidence, observedAt }, domainId }) =>
        keepsEvidence ? [[domainId, observedAt, packed(evidence).toString('hex')]] : [],
      ),
    ),
    ...domainQueries(statements, numbered),
    // Updating a domain ends its lease.
    ...statements.endLeases(plans.flatMap(({ stored, plan }) => (plan.update ? [] : (stored.row?.id ?? [])))),
  ];
  const scansAndChanges = [
    ...statements.addScans(
      numbered.map(({ scan, plan, domainId }) =>
        valuesOf(COLUMNS.SCAN, { ...scanRow(scan, plan), domain_id: domainId }),
      ),
    ),
    ...statements.addChanges(numbered.flatMap(changeRows)),
  ];
  return {
    own,
    numbered: [...scansAndChanges, ...statements.addEvents(numbered.flatMap(eventRows))],
    addsDomains: added.length > 0,
    changesOf(results) {
      // Numbers are assigned in row order, but may be returned in any order.
      const rows = (results[scansAndChanges.length - 1]?.rows ?? []) as readonly { readonly id: number }[];
      const ids = rows.map(({ id }) => id).sort((a, b) => a - b);
      let next = 0;
      return plans.map(({ plan }) =>
        plan.changes.map(({ change }) => {
          const id = ids[next++];
          if (id === undefined) throw new Error('a new change has no number');
          return { ...change, id: changeId(id) };
        }),
      );
    },
  };
}

function numberPlans(plans: readonly Plan[]): NumberedPlan[] {
  const numbers = {
    domains: countBack(plans.filter(({ stored }) => stored.row === undefined).length),
    scans: countBack(plans.length),
    changes: countBack(plans.reduce((sum, { plan }) => sum + plan.changes.length, 0)),
  };
  return plans.map((each) => ({
    ...each,
    domainId: each.stored.row?.id ?? numbers.domains(),
    scanId: numbers.scans(),
    changeIds: each.plan.changes.map(numbers.changes),
  }));
}

/** Returns references to `count` rows that are added together, in order; the last is 0. */
function countBack(count: number): () => number {
  let next = 1 - count;
  return () => next++;
}

/** Ends intervals first: a service that new rules end and the scan finds again has the same key, which must not have two open rows. */
function intervalQueries(statements: ScanStatements, plans: readonly NumberedPlan[]): readonly Write[] {
  const each = plans.flatMap(({ plan: { intervals, observedAt }, domainId }) =>
    intervals ? [{ ...intervals, observedAt, domainId }] : [],
  );
  return [
    ...statements.endServices(
      each.flatMap(({ ended }) => ended.map(({ id, validTo, lastObserved }) => [id, validTo, lastObserved])),
    ),
    ...statements.dropServices(each.flatMap(({ dropped }) => dropped)),
    ...statements.updateServices(
      each.flatMap(({ updated, observedAt }) =>
        updated.map((service) => [service.id, ...valuesOf(COLUMNS.SERVICE, serviceRow(service, observedAt))]),
      ),
    ),
    ...statements.beginServices(
      each.flatMap(({ begun, observedAt, domainId }) =>
        begun.map((service) => valuesOf(COLUMNS.BEGUN, { ...begunRow(service, observedAt), domain_id: domainId })),
      ),
    ),
  ];
}

function recordQueries(statements: ScanStatements, plans: readonly NumberedPlan[]): readonly Write[] {
  const rowsOf = (change: 'put' | 'dropped', columns: JsonColumns) =>
    plans.flatMap(({ plan, domainId }) =>
      (plan.records?.[change] ?? []).map((each) => valuesOf(columns, { ...recordRow(each), domain_id: domainId })),
    );
  return [
    ...statements.dropRecords(rowsOf('dropped', COLUMNS.RECORD_KEY)),
    ...statements.putRecords(rowsOf('put', COLUMNS.RECORD)),
  ];
}

function changeRows({ plan, domainId, scanId }: NumberedPlan): unknown[][] {
  return plan.changes.map(({ change, isEntry, isExit }) => {
    const { confirmedAt, from, to, ...same } = change;
    const named = { confirmed_at: confirmedAt, from_provider: from, to_provider: to };
    const flags = { is_entry: Number(isEntry), is_exit: Number(isExit) };
    return valuesOf(COLUMNS.CHANGE, { ...same, ...named, ...flags, domain_id: domainId, scan_id: scanId });
  });
}

const NOTHING_PUBLISHED = { summary: null, state: null } as const;

function eventRows({ stored, plan, domainId, changeIds }: NumberedPlan): unknown[][] {
  const events: readonly NewEvent[] = [
    ...changeEvents(plan.profile.domain, plan.changes),
    ...differenceEvents(stored.row ?? NOTHING_PUBLISHED, plan),
  ];
  return events.map(({ payload, change, ...event }) => {
    const change_id = change === undefined ? null : changeIds[change];
    return valuesOf(COLUMNS.EVENT, { ...event, domain_id: domainId, change_id, rest: payload.slice(1, -1) });
  });
}

function domainQueries(statements: ScanStatements, plans: readonly NumberedPlan[]): readonly Write[] {
  const updated: unknown[][] = [];
  const published: unknown[][] = [];
  for (const { plan, domainId } of plans) {
    if (!plan.update) continue;
    const row = [domainId, ...valuesOf(COLUMNS.UPDATED, updateRow(plan.update))];
    if (plan.difference)
      published.push([...row, ...valuesOf(COLUMNS.PUBLISHED, publishedRow(plan.difference.published))]);
    else updated.push(row);
  }
  return [...statements.updateDomains(updated), ...statements.publishDomains(published)];
}
