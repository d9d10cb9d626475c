// The open intervals of a domain that a scan ends, changes or begins.
import { type KnownService, keyOf } from './known-service.ts';
import type { Reconciliation } from './reconcile.ts';

export interface OpenInterval extends KnownService {
  readonly id: number;
}

/** Only intervals that differ, so that an unchanged stack changes none. */
export interface IntervalChanges {
  readonly ended: readonly { readonly id: number; readonly validTo: number; readonly lastObserved: number }[];
  readonly dropped: readonly number[];
  readonly updated: readonly OpenInterval[];
  readonly begun: readonly KnownService[];
}

/**
 * `observedAt` is the time of the scan, `lastScannedAt` that of the one before: an interval that both observed, and that is
 * otherwise equal, does not differ.
 */
export function intervalChanges(
  known: readonly OpenInterval[],
  result: Reconciliation,
  { observedAt, lastScannedAt }: { readonly observedAt: number; readonly lastScannedAt: number | null },
): IntervalChanges {
  const before = new Map(known.map((service) => [keyOf(service), service]));
  const take = (service: KnownService): OpenInterval[] => {
    const old = before.get(keyOf(service));
    before.delete(keyOf(service));
    return old ? [old] : [];
  };
  // A service that new rules end and the scan finds again has the same key: it begins a new interval.
  const ended = result.ended.flatMap(({ service, validTo }) =>
    take(service).map(({ id, lastObserved }) => ({ id, validTo, lastObserved })),
  );
  const dropped = result.dropped.flatMap((service) => take(service).map(({ id }) => id));
  const updated: OpenInterval[] = [];
  const begun: KnownService[] = [];
  for (const service of result.open) {
    const old = before.get(keyOf(service));
    if (!old) begun.push(service);
    else if (valuesAt(service, observedAt) !== valuesAt(old, lastScannedAt)) updated.push({ ...service, id: old.id });
  }
  return { ended, dropped, updated, begun };
}

/** What a scan may change, as text. */
function valuesAt(service: KnownService, scannedAt: number | null): string {
  const { role, confidence, score, evidence, version, platform, status, lastObserved, firstMissed } = service;
  const observed = lastObserved === scannedAt ? 'by this scan' : lastObserved;
  return JSON.stringify([role, confidence, score, evidence, version, platform, status, observed, firstMissed]);
}
