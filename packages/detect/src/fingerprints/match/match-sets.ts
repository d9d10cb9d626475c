// Community sets against a reading: findings like those of our own rules, to be judged and weighed with them.

import type { Reading } from '../../evidence/reading.ts';
import { type Finding, findingOf as findingOfRule } from '../../match/finding.ts';
import type { Family } from '../../match/strengths.ts';
import type { Measurement } from '../../posture/posture-type.ts';
import { type Role, SOURCES, type Source } from '../../profile.ts';
import { getOrCreate, type Rule } from '../../rulebook/matchers.ts';
import type { Rulebook } from '../../rulebook/rulebook.ts';
import { ruleOfImplication } from '../compile/channels.ts';
import type { CompiledSets } from '../compile/compile-sets.ts';
import { type Implied, type Reputation, type Seen, settle } from './relations.ts';
import { type Sighting, sightingsIn, standsAtWall } from './sightings.ts';

const CERTAIN = 100;

/** One record or token names one provider, and one header or cookie one at the address; the catalog knows better which. */
const RECORDS: ReadonlySet<Source> = new Set<Source>(['ns', 'soa', 'mx', 'txt', 'cname', 'tls']);
const AT_ADDRESS: ReadonlySet<Role> = new Set<Role>(['edge', 'protection', 'origin']);

export interface SetMatches {
  readonly findings: readonly Finding[];
  /** The sources' measurements, less what the sets could not look at within their bound. */
  readonly sources: Measurements;
}
type Measurements = Readonly<Record<Source, Measurement>>;

/** All findings of the rulebook's sets; `own` are those of its own rules, which `requires` may ask for. */
export function matchSets(
  reading: Reading,
  { sets }: Rulebook,
  known: { readonly own: readonly Finding[]; readonly sources: Measurements },
): SetMatches {
  const { own } = known;
  if (!sets || reading.existence === 'nonexistent') return { findings: [], sources: known.sources };
  const { sightings, unsearched } = sightingsIn(reading, sets);
  const sources = withUnsearched(known.sources, unsearched);
  const unmeasured = new Set(SOURCES.filter((source) => ['unmeasured', 'blocked'].includes(sources[source])));
  const records = recordsOf(own);
  const usable = sightings.filter(
    (each) => (reading.webAnswer !== 'wall' || standsAtWall(each)) && !isNamedOtherwise(each.finding, records),
  );
  const providers = new Set(own.map(({ rule }) => rule.provider));
  const { undecided, ...settled } = settle(seenIn(usable), { own: providers, sets, unmeasured });
  const findingsOf = ({ standing, implied }: Reputation) => [
    ...standing.flatMap(({ findings }) => findings),
    ...implied.flatMap((each) => findingOf(each, sets)),
  ];
  const open = findingsOf(undecided).map((finding) => ({ ...finding, isUndecided: true }));
  return { findings: [...findingsOf(settled), ...open], sources };
}

function withUnsearched(sources: Measurements, unsearched: ReadonlySet<Source>): Measurements {
  if (unsearched.size === 0) return sources;
  const left = Array.from(unsearched, (source) => [source, 'unmeasured'] as const);
  return { ...sources, ...Object.fromEntries(left) };
}

/** Providers by the record that names them. */
function recordsOf(own: readonly Finding[]): ReadonlyMap<string, ReadonlySet<string>> {
  const records = new Map<string, Set<string>>();
  for (const { rule, value } of own) {
    if (namesOne(rule)) {
      getOrCreate(records, `${rule.source} ${value}`, () => new Set<string>()).add(rule.provider);
    }
  }
  return records;
}

function namesOne({ source, role }: Rule): boolean {
  return RECORDS.has(source) || ((source === 'header' || source === 'cookie') && AT_ADDRESS.has(role));
}

function isNamedOtherwise({ rule, value }: Finding, records: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  if (!namesOne(rule)) return false;
  const named = records.get(`${rule.source} ${value}`);
  return named !== undefined && !named.has(rule.provider);
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
  return [findingOfRule(rule, cause.value, { strength: Math.min(rule.strength, strength) })];
}
