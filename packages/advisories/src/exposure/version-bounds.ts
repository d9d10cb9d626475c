// The points on the line of versions at which an advisory's judgement may change: between two of them it is constant.
import type { VersionScheme } from '../advisory.ts';
import type { Configuration } from '../judge/configuration.ts';
import type { Criterion } from '../judge/criterion.ts';
import type { CompiledAdvisory } from '../judge/judge.ts';
import type { Interval } from '../versions/ranges.ts';

/** Keys of versions by scheme, sorted, each once. */
export function boundsOf({ sources }: CompiledAdvisory): ReadonlyMap<VersionScheme, readonly string[]> {
  const bounds = new Map<VersionScheme, Set<string>>();
  const add = (scheme: VersionScheme, intervals: readonly Interval[]) => {
    let of = bounds.get(scheme);
    if (!of) {
      of = new Set();
      bounds.set(scheme, of);
    }
    for (const { low, high } of intervals) of.add(low).add(high);
  };
  for (const claim of sources.flatMap(({ claims }) => claims)) {
    if (claim.kind === 'product') {
      add(claim.scheme, claim.affected.intervals);
      add(claim.scheme, claim.unaffected.intervals);
    } else {
      eachCriterion(claim.root, ({ scheme, intervals }) => add(scheme, intervals));
    }
  }
  return new Map([...bounds].map(([scheme, of]) => [scheme, [...of].sort()]));
}

/** Includes negated criteria and those of the environment. */
function eachCriterion(statement: Configuration['root'], report: (criterion: Criterion) => void): void {
  if (statement.kind === 'criterion') report(statement);
  else if (statement.kind !== 'unknown') for (const child of statement.children) eachCriterion(child, report);
}
