// Plans of scans as queries: one a table, however many scans. Numbers are given in the order in which one scan after another would have got
// them; a row that refers to one that is added with it counts back from the last (json-rows.ts), so that no query waits for another's answer.
import type { ServiceChange } from '@strata/detect';
import type { QueryResult } from 'kysely';
import { valuesOf } from '../../db/statements/json-rows.ts';
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
  /** In the order in which they run. */
  readonly writes: readonly Write[];
  /** The changes of each plan with their numbers, from what these gave. */
  changesOf(results: readonly QueryResult<unknown>[]): (readonly (ServiceChange & { readonly id: string })[])[];
}

/** A plan with the rows that it refers to. */
interface PlacedPlan extends Plan {
  readonly domainId: number;
  readonly scanId: number;
  /** In the order of the changes. */
  readonly changeIds: readonly number[];
}

/** The plans must be of different domains, and made by what the transaction sees. */
export function scanWrites(statements: ScanStatements, plans: readonly Plan[]): ScanWrites {
  const placed = placedPlans(plans);
  const added = plans.filter(({ known }) => known.row === undefined);
  const before = [
    // A domain that is on no list is due with its scan.
    ...statements.addDomains(added.map(({ domain, plan }) => [domain, 'on-demand', plan.scan.observed_at, 0])),
    ...statements.addScans(
      placed.map(({ plan, domainId }) => valuesOf(COLUMNS.SCAN, { ...plan.scan, domain_id: domainId })),
    ),
    ...intervalQueries(statements, placed),
    ...statements.addChanges(placed.flatMap(changeRows)),
  ];
  const after = [
    ...statements.addEvents(placed.flatMap(eventRows)),
    ...statements.keepEvidence(
      placed.flatMap(({ plan: { evidence, scan }, domainId }) =>
        evidence ? [[domainId, scan.observed_at, Buffer.from(evidence).toString('hex')]] : [],
      ),
    ),
    ...lookQueries(statements, placed),
    // Last: who leases meanwhile passes over the rows of domains that are being written, and so never waits for this.
    ...statements.endLeases(plans.flatMap(({ known }) => known.row?.id ?? [])),
  ];
  return {
    writes: [...before, ...after],
    changesOf(results) {
      // Numbers are given in the order of the rows, but come back in any.
      const rows = (results[before.length - 1]?.rows ?? []) as readonly { readonly id: number }[];
      const ids = rows.map(({ id }) => id).sort((a, b) => a - b);
      let next = 0;
      return plans.map(({ plan }) =>
        plan.changes.map(({ change }) => {
          const id = ids[next++];
          if (id === undefined) throw new Error('a change that was added has a number');
          return { ...change, id: changeId(id) };
        }),
      );
    },
  };
}

function placedPlans(plans: readonly Plan[]): PlacedPlan[] {
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

/** Gives how each of so many rows that are added together is referred to, the first one first: the last is 0. */
function countBack(count: number): () => number {
  let next = 1 - count;
  return () => next++;
}

/** Endings first: what new rules end and the scan sees anew has the same key, and never two open rows. */
function intervalQueries(statements: ScanStatements, plans: readonly PlacedPlan[]): readonly Write[] {
  const each = plans.flatMap(({ plan: { intervals }, domainId }) => (intervals ? [{ ...intervals, domainId }] : []));
  return [
    ...statements.endServices(
      each.flatMap(({ ended }) => ended.map(({ id, validTo, lastSeen }) => [id, validTo, lastSeen])),
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

function changeRows({ plan, domainId, scanId }: PlacedPlan): unknown[][] {
  return plan.changes.map(({ change, is_entry, is_exit }) => {
    const { confirmedAt, from, to, ...same } = change;
    const named = { confirmed_at: confirmedAt, from_provider: from, to_provider: to, is_entry, is_exit };
    return valuesOf(COLUMNS.CHANGE, { ...same, ...named, domain_id: domainId, scan_id: scanId });
  });
}

const NOTHING_TOLD = { summary: null, state: null } as const;

function eventRows({ domain, known, plan, domainId, changeIds }: PlacedPlan): unknown[][] {
  const events: readonly NewEvent[] = [
    ...changeEvents(domain, plan.changes),
    ...(plan.difference ? differenceEvents(known.row ?? NOTHING_TOLD, plan.difference) : []),
  ];
  return events.map(({ payload, change, ...event }) => {
    const change_id = change === undefined ? null : changeIds[change];
    return valuesOf(COLUMNS.EVENT, { ...event, domain_id: domainId, change_id, rest: payload.slice(1, -1) });
  });
}

function lookQueries(statements: ScanStatements, plans: readonly PlacedPlan[]): readonly Write[] {
  const looks: unknown[][] = [];
  const tellings: unknown[][] = [];
  for (const { plan, domainId } of plans) {
    if (!plan.looked) continue;
    const look = [domainId, ...valuesOf(COLUMNS.LOOKED, plan.looked)];
    if (plan.difference) tellings.push([...look, ...valuesOf(COLUMNS.TOLD, plan.difference.told)]);
    else looks.push(look);
  }
  return [...statements.look(looks), ...statements.tell(tellings)];
}
