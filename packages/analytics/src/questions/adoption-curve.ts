// The growth of a provider: its domains by day, computed backwards from the current count.
import type { Category } from '@strata/detect';
import { categoryAt } from '../columns/terms.ts';
import type { DomainIndex } from '../index/domain-index.ts';

export interface CurvePoint {
  readonly day: number;
  readonly domains: number;
  readonly added: number;
  readonly removed: number;
}

/**
 * Domains by day from `from` to `to`, inclusive, on the current panel: a domain counts with its first observed provider
 * for the time before its first scan, so that a longer list of domains does not appear as adoption.
 */
export function adoptionCurve(
  index: DomainIndex,
  subject: { readonly provider: string; readonly category?: Category },
  { from, to }: { readonly from: number; readonly to: number },
): CurvePoint[] {
  return curveOf(domainsNow(index, subject), { from, to }, (day) => index.history.movement(subject, day, day));
}

/** The curve that ends with this number of domains, from the domains gained and lost on each day. */
export function curveOf(
  domainsAtEnd: number,
  { from, to }: { readonly from: number; readonly to: number },
  movementOn: (day: number) => { readonly gained: number; readonly lost: number },
): CurvePoint[] {
  let domains = domainsAtEnd;
  const points: CurvePoint[] = [];
  for (let day = to; day >= from; day -= 1) {
    const { gained, lost } = movementOn(day);
    points.push({ day, domains: Math.max(0, domains), added: gained, removed: lost });
    domains -= gained - lost;
  }
  return points.reverse();
}

function domainsNow(
  index: DomainIndex,
  { provider, category }: { readonly provider: string; readonly category?: Category },
): number {
  const number = index.vocabulary.providers.find(provider);
  if (number === undefined) return 0;
  if (category === undefined) return index.sets.provider(number).size;
  const placement = index.vocabulary.placementsOf(number).find((each) => categoryAt(each.category) === category);
  return placement ? index.sets.placement(placement.number).size : 0;
}
