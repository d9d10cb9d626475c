// Community sets against a reading: findings like those of our own rules, to be judged and weighed with them.
import type { Finding } from '../finding.ts';
import type { Reading } from '../reading.ts';
import type { Rulebook } from '../rulebook.ts';
import type { Family } from '../strengths.ts';
import { ruleOfImplication } from './channels.ts';
import type { CompiledSets } from './compile-sets.ts';
import { type Implied, type Seen, settle } from './relations.ts';
import { type Sighting, sightingsIn, standsAtWall } from './sightings.ts';

const CERTAIN = 100;

/** All findings of the rulebook's sets; `own` are those of its own rules, which `requires` may ask for. */
export function matchSets(reading: Reading, { sets }: Rulebook, own: readonly Finding[]): Finding[] {
  if (!sets || reading.existence === 'nonexistent') return [];
  const sightings = sightingsIn(reading, sets);
  const usable = reading.webAnswer === 'wall' ? sightings.filter(standsAtWall) : sightings;
  const { standing, implied } = settle(seenIn(usable), new Set(own.map(({ rule }) => rule.provider)), sets);
  return [...standing.flatMap(({ findings }) => findings), ...implied.flatMap((each) => findingOf(each, sets))];
}

/**
 * Sightings by technology. Confidences of its patterns add up, as the format says, to at most 100, within one family of
 * evidence: families are weighed against each other later, and would else count twice.
 */
function seenIn(sightings: readonly Sighting[]): Seen[] {
  const byOwner = new Map<number, Sighting[]>();
  for (const sighting of sightings) {
    const known = byOwner.get(sighting.owner);
    if (known) known.push(sighting);
    else byOwner.set(sighting.owner, [sighting]);
  }
  return [...byOwner].map(([owner, group]) => {
    const confidence = confidenceByFamily(group);
    const findings = group.map(({ finding, cap }) => {
      const sure = Math.min(CERTAIN, confidence.get(finding.rule.family) ?? 0) / CERTAIN;
      return { ...finding, strength: Math.min(cap, finding.strength * sure) };
    });
    return { owner, findings: findings.filter(({ strength }) => strength > 0) };
  });
}

/** A pattern that matched in several places counts once, with what it is in all of them. */
function confidenceByFamily(group: readonly Sighting[]): ReadonlyMap<Family, number> {
  const counted = new Set<string>();
  const sums = new Map<Family, number>();
  for (const { finding, confidence } of group) {
    const { id, family } = finding.rule;
    if (counted.has(id)) continue;
    counted.add(id);
    sums.set(family, (sums.get(family) ?? 0) + confidence);
  }
  return sums;
}

function findingOf({ provider, cause, strength }: Implied, sets: CompiledSets): Finding[] {
  const of = sets.providers.get(provider);
  if (!of || strength <= 0) return [];
  const rule = ruleOfImplication(of, cause.rule);
  return [{ rule, value: cause.value, strength: Math.min(rule.strength, strength) }];
}
