// Joins several entries of one publisher on one product into one claim: separately, each would make the versions of the
// other entries unaffected.
import type { ProductClaim } from '../advisory.ts';

/** In the order of the first of each; a claim without content is dropped if the product has one with content. */
export function joinClaims(claims: readonly ProductClaim[]): ProductClaim[] {
  const decided = new Set(claims.filter(decides).map(subjectOf));
  const joined = new Map<string, ProductClaim>();
  for (const [i, claim] of claims.entries()) {
    const subject = subjectOf(claim);
    if (!decides(claim) && decided.has(subject)) continue;
    // One entry's unaffected versions may be another's affected ones, for example of another module.
    const isAlone = claim.unaffected.length > 0;
    const key = isAlone ? String(i) : JSON.stringify([subject, claim.scheme, claim.otherwise]);
    const before = joined.get(key);
    joined.set(key, before === undefined ? claim : both(before, claim));
  }
  return [...joined.values()];
}

/** Whether it decides any version. */
export function decides({ affected, affectedVersions, unaffected, otherwise }: ProductClaim): boolean {
  return otherwise !== 'unknown' || affected.length + affectedVersions.length + unaffected.length > 0;
}

function subjectOf({ products, platforms }: ProductClaim): string {
  return JSON.stringify([products, platforms]);
}

function both(a: ProductClaim, b: ProductClaim): ProductClaim {
  return {
    ...a,
    affected: [...a.affected, ...b.affected],
    affectedVersions: [...new Set([...a.affectedVersions, ...b.affectedVersions])],
  };
}
