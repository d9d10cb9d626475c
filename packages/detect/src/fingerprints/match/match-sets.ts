// Matches community sets against a reading. The findings are judged and weighed together with those of our own rules.

import type { Reading } from '../../evidence/reading.ts';
import { type Finding, findingOf as findingOfRule } from '../../match/finding.ts';
import type { Family } from '../../match/strengths.ts';
import type { Measurement } from '../../posture/posture-type.ts';
import { type Category, SOURCES, type Source } from '../../profile.ts';
import { getOrCreate, type Rule } from '../../rulebook/matchers.ts';
import type { Rulebook } from '../../rulebook/rulebook.ts';
import { ruleOfImplication } from '../compile/channels.ts';
import type { CompiledSets } from '../compile/compile-sets.ts';
import { isValidAtWall, type PatternFinding, patternFindingsIn } from './pattern-findings.ts';
import { type DetectedTechnology, type Implied, type Resolution, settle } from './relations.ts';

const CERTAIN = 100;

/** One record, token, header or cookie identifies one provider; the catalog's identification takes precedence. */
const RECORDS: ReadonlySet<Source> = new Set<Source>(['ns', 'soa', 'mx', 'txt', 'cname', 'tls']);
const AT_ADDRESS: ReadonlySet<Category> = new Set<Category>(['cdn', 'security', 'hosting']);

interface SetMatches {
  readonly findings: readonly Finding[];
  /** The sources' measurements, without those that the search limit left unsearched. */
  readonly sources: Measurements;
}
type Measurements = Readonly<Record<Source, Measurement>>;

/** All findings of the rulebook's sets; `own` are the findings of its own rules, which `requires` may refer to. */
export function matchSets(
  reading: Reading,
  { sets }: Rulebook,
  known: { readonly own: readonly Finding[]; readonly sources: Measurements },
): SetMatches {
  const { own } = known;
  if (!sets || reading.existence === 'nonexistent') return { findings: [], sources: known.sources };
  const { found, unsearched } = patternFindingsIn(reading, sets);
  const sources = withUnsearched(known.sources, unsearched);
  const unmeasured = new Set(SOURCES.filter((source) => ['unmeasured', 'blocked'].includes(sources[source])));
  const records = recordsOf(own);
  const usable = found.filter(
    (each) => (reading.webAnswer !== 'wall' || isValidAtWall(each)) && !isNamedOtherwise(each.finding, records),
  );
  const providers = new Set(own.map(({ rule }) => rule.provider));
  const { undecided, ...settled } = settle(technologiesIn(usable), { own: providers, sets, unmeasured });
  const findingsOf = ({ accepted, implied }: Resolution) => [
    ...accepted.flatMap(({ findings }) => findings),
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

/** Providers by the record that identifies them. */
function recordsOf(own: readonly Finding[]): ReadonlyMap<string, ReadonlySet<string>> {
  const records = new Map<string, Set<string>>();
  for (const { rule, value } of own) {
    if (namesOne(rule)) {
      getOrCreate(records, `${rule.source} ${value}`, () => new Set<string>()).add(rule.provider);
    }
  }
  return records;
}

function namesOne({ source, category }: Rule): boolean {
  return RECORDS.has(source) || ((source === 'header' || source === 'cookie') && AT_ADDRESS.has(category));
}

function isNamedOtherwise({ rule, value }: Finding, records: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  if (!namesOne(rule)) return false;
  const named = records.get(`${rule.source} ${value}`);
  return named !== undefined && !named.has(rule.provider);
}

/**
 * Findings grouped by technology. As the format defines, confidences of its patterns add up to at most 100. They add up
 * only within one family of evidence: families are combined later, and would otherwise count twice.
 */
function technologiesIn(found: readonly PatternFinding[]): DetectedTechnology[] {
  return [...Map.groupBy(found, ({ owner }) => owner)].map(([owner, group]) => {
    const confidence = confidenceByFamily(group);
    const findings = group.map(({ finding, cap }) => {
      const sure = Math.min(CERTAIN, confidence.get(finding.rule.family) ?? 0) / CERTAIN;
      return { ...finding, strength: Math.min(cap, finding.strength * sure) };
    });
    return { owner, findings: findings.filter(({ strength }) => strength > 0) };
  });
}

/** A pattern that matches several times counts once. */
function confidenceByFamily(group: readonly PatternFinding[]): ReadonlyMap<Family, number> {
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
