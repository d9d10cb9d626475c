// Plans of scans as rows: one statement a table, however many scans. Numbers are given in the order in which one scan after another
// would have got them.
import type { ServiceChange } from '@strata/detect';
import type { Transaction } from 'kysely';
import { changeId } from './domains.ts';
import type { KnownDomain, PlannedScan } from './plan-scan.ts';
import { COLUMNS, type ScanStatements, valuesOf } from './scan-statements.ts';
import type { Database } from './schema.ts';
import { changeEvents, differenceEvents } from './tell.ts';

export interface Plan {
  readonly domain: string;
  readonly known: KnownDomain;
  readonly plan: PlannedScan;
}

interface NumberedPlan extends Plan {
  readonly domainId: number;
}

type Written = readonly (ServiceChange & { readonly id: string })[];

/** The plans must be of different domains, and made by what the transaction sees. Gives the changes of each. */
export async function writePlans(
  tx: Transaction<Database>,
  statements: ScanStatements,
  plans: readonly Plan[],
): Promise<Written[]> {
  const numbered = await addDomains(tx, statements, plans);
  const scans = await statements.addScans(
    tx,
    numbered.map(({ plan, domainId }) => valuesOf(COLUMNS.SCAN, { ...plan.scan, domain_id: domainId })),
  );
  const scanIds = new Map(scans.map(({ id, domain_id }) => [domain_id, id]));
  await writeIntervals(tx, statements, numbered);
  const changes = numbered.flatMap((each) => changeRows(each, numberOf(scanIds, each.domainId)));
  // Numbers are given in the order of the rows, but come back in any.
  const changeIds = (await statements.addChanges(tx, changes)).map(({ id }) => id).sort((a, b) => a - b);
  let next = 0;
  const told = numbered.map((each) => {
    const from = next;
    next += each.plan.changes.length;
    return { ...each, changeIds: changeIds.slice(from, next) };
  });
  const events = told.flatMap(({ domain, known, plan, domainId, changeIds }) => [
    ...changeEvents(domain, plan.changes, { domainId, changeIds }),
    ...(plan.difference ? differenceEvents(known.row ?? NOTHING_TOLD, plan.difference, domainId) : []),
  ]);
  await statements.addEvents(
    tx,
    events.map((event) => valuesOf(COLUMNS.EVENT, event)),
  );
  const kept = numbered.flatMap(({ plan: { evidence, scan }, domainId }) =>
    evidence ? [[domainId, scan.observed_at, Buffer.from(evidence).toString('hex')]] : [],
  );
  await statements.keepEvidence(tx, kept);
  await writeLooks(tx, statements, numbered);
  // Last: who leases meanwhile passes over the rows of domains that are being written, and so never waits for this.
  await statements.endLeases(
    tx,
    numbered.map(({ domainId }) => domainId),
  );
  return told.map(({ plan, changeIds }) =>
    plan.changes.map(({ change }, place) => ({ ...change, id: changeId(changeIds[place] ?? 0) })),
  );
}

const NOTHING_TOLD = { summary: null, state: null } as const;

/** A domain that nobody put on the list is due with its scan. */
async function addDomains(
  tx: Transaction<Database>,
  statements: ScanStatements,
  plans: readonly Plan[],
): Promise<NumberedPlan[]> {
  const rows = plans
    .filter(({ known }) => known.row === undefined)
    .map(({ domain, plan }) => [domain, 'on-demand', plan.scan.observed_at, 0]);
  const added = new Map((await statements.addDomains(tx, rows)).map(({ id, name }) => [name, id]));
  return plans.map((each) => ({ ...each, domainId: each.known.row?.id ?? numberOf(added, each.domain) }));
}

/** Endings first: what new rules end and the scan sees anew has the same key, and never two open rows. */
async function writeIntervals(
  tx: Transaction<Database>,
  statements: ScanStatements,
  plans: readonly NumberedPlan[],
): Promise<void> {
  const each = plans.flatMap(({ plan: { intervals }, domainId }) => (intervals ? [{ ...intervals, domainId }] : []));
  const ended = each.flatMap(({ ended }) => ended.map(({ id, validTo, lastSeen }) => [id, validTo, lastSeen]));
  await statements.endServices(tx, ended);
  await statements.dropServices(
    tx,
    each.flatMap(({ dropped }) => dropped),
  );
  const updated = each.flatMap(({ updated }) => updated.map((row) => [row.id, ...valuesOf(COLUMNS.SERVICE, row)]));
  await statements.updateServices(tx, updated);
  const begun = each.flatMap(({ begun, domainId }) =>
    begun.map((row) => valuesOf(COLUMNS.BEGUN, { ...row, domain_id: domainId })),
  );
  await statements.beginServices(tx, begun);
}

function changeRows({ plan, domainId }: NumberedPlan, scanId: number): unknown[][] {
  return plan.changes.map(({ change, is_entry, is_exit }) => {
    const { confirmedAt, from, to, ...same } = change;
    const named = { confirmed_at: confirmedAt, from_provider: from, to_provider: to, is_entry, is_exit };
    return valuesOf(COLUMNS.CHANGE, { ...same, ...named, domain_id: domainId, scan_id: scanId });
  });
}

async function writeLooks(
  tx: Transaction<Database>,
  statements: ScanStatements,
  plans: readonly NumberedPlan[],
): Promise<void> {
  const looks: unknown[][] = [];
  const tellings: unknown[][] = [];
  for (const { plan, domainId } of plans) {
    if (!plan.looked) continue;
    const look = [domainId, ...valuesOf(COLUMNS.LOOKED, plan.looked)];
    if (plan.difference) tellings.push([...look, ...valuesOf(COLUMNS.TOLD, plan.difference.told)]);
    else looks.push(look);
  }
  await statements.look(tx, looks);
  await statements.tell(tx, tellings);
}

function numberOf<Key>(numbers: ReadonlyMap<Key, number>, key: Key): number {
  const number = numbers.get(key);
  if (number === undefined) throw new Error(`an inserted row has a number: ${key}`);
  return number;
}
