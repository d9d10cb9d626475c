// Converts planned scans into queries, one for each table. Numbers are assigned in scan order; a row that refers to another new row
// counts back from the last one (json-rows.ts), so that no query waits for the result of another.

import { valuesOf } from '@strata/db';
import type { ServiceChange } from '@strata/detect';
import type { QueryResult } from 'kysely';
import { changeId } from '../domains/domains.ts';
import type { KnownDomain, PlannedScan } from './plan-scan.ts';
import { changeEvents, differenceEvents, type NewEvent } from './scan-events.ts';
import { COLUMNS, type ScanStatements, type Write } from './scan-statements.ts';

export interface Plan {
  readonly domain: string;
  readonly known: KnownDomain;
  readonly plan: PlannedScan;
}

export interface ScanWrites {
  /** In execution order. */
  readonly writes: readonly Write[];
  /** The changes of each plan with their numbers, from the results of the writes. */
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
  const added = plans.filter(({ known }) => known.row === undefined);
  const before = [
    // A domain without a list is due at the time of its scan.
    ...statements.addDomains(added.map(({ domain, plan }) => [domain, 'on-demand', plan.scan.observed_at, 0])),
    ...statements.addScans(
      numbered.map(({ plan, domainId }) => valuesOf(COLUMNS.SCAN, { ...plan.scan, domain_id: domainId })),
    ),
    ...intervalQueries(statements, numbered),
    ...statements.addChanges(numbered.flatMap(changeRows)),
  ];
  const after = [
    ...statements.addEvents(numbered.flatMap(eventRows)),
    ...statements.keepEvidence(
      numbered.flatMap(({ plan: { evidence, scan }, domainId }) =>
        evidence ? [[domainId, scan.observed_at, Buffer.from(evidence).toString('hex')]] : [],
      ),
    ),
    ...domainQueries(statements, numbered),
    // Last: concurrent leases skip the locked rows of these domains, and so never wait for this transaction.
    ...statements.endLeases(plans.flatMap(({ known }) => known.row?.id ?? [])),
  ];
  return {
    writes: [...before, ...after],
    changesOf(results) {
      // Numbers are assigned in row order, but may be returned in any order.
      const rows = (results[before.length - 1]?.rows ?? []) as readonly { readonly id: number }[];
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
    domains: countBack(plans.filter(({ known }) => known.row === undefined).length),
    scans: countBack(plans.length),
    changes: countBack(plans.reduce((sum, { plan }) => sum + plan.changes.length, 0)),
  };
  return plans.map((each) => ({
    ...each,
    domainId: each.known.row?.id ?? numbers.domains(),
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
  const each = plans.flatMap(({ plan: { intervals }, domainId }) => (intervals ? [{ ...intervals, domainId }] : []));
  return [
    ...statements.endServices(
      each.flatMap(({ ended }) => ended.map(({ id, validTo, lastObserved }) => [id, validTo, lastObserved])),
    ),
    ...statements.dropServices(each.flatMap(({ dropped }) => dropped)),
    ...statements.updateServices(
      each.flatMap(({ updated }) => updated.map((row) => [row.id, ...valuesOf(COLUMNS.SERVICE, row)])),
    ),
    ...statements.beginServices(
      each.flatMap(({ begun, domainId }) =>
        begun.map((row) => valuesOf(COLUMNS.BEGUN, { ...row, domain_id: domainId })),
      ),
    ),
  ];
}

function changeRows({ plan, domainId, scanId }: NumberedPlan): unknown[][] {
  return plan.changes.map(({ change, is_entry, is_exit }) => {
    const { confirmedAt, from, to, ...same } = change;
    const named = { confirmed_at: confirmedAt, from_provider: from, to_provider: to, is_entry, is_exit };
    return valuesOf(COLUMNS.CHANGE, { ...same, ...named, domain_id: domainId, scan_id: scanId });
  });
}

const NOTHING_PUBLISHED = { summary: null, state: null } as const;

function eventRows({ domain, known, plan, domainId, changeIds }: NumberedPlan): unknown[][] {
  const events: readonly NewEvent[] = [
    ...changeEvents(domain, plan.changes),
    ...(plan.difference ? differenceEvents(known.row ?? NOTHING_PUBLISHED, plan.difference) : []),
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
    const row = [domainId, ...valuesOf(COLUMNS.UPDATED, plan.update)];
    if (plan.difference) published.push([...row, ...valuesOf(COLUMNS.PUBLISHED, plan.difference.published)]);
    else updated.push(row);
  }
  return [...statements.updateDomains(updated), ...statements.publishDomains(published)];
}
