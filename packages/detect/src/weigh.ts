// Findings -> services: grouped by category and provider, weighed by independent families, evidence kept short.
import type { Finding } from './finding.ts';
import { CATEGORIES, type Category, type Service, type ServiceEvidence } from './profile.ts';
import { combineStrengths, type Family, levelOf } from './strengths.ts';
import { cutText } from './text.ts';
import type { ShownVersion } from './version.ts';

/** Enough to see why; a page may name one provider in a hundred assets. */
const MAX_EVIDENCE = 12;
const MAX_VALUE_LENGTH = 256;

const CATEGORY_ORDER = Object.fromEntries(CATEGORIES.map((category, i) => [category, i])) as Record<Category, number>;

/** Services in the profile's order: category, then score, then provider. */
export function weighFindings(findings: readonly Finding[]): readonly Service[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const group = groups.get(finding.rule.service);
    if (group) group.push(finding);
    else groups.set(finding.rule.service, [finding]);
  }
  return [...groups.values()].map(toService).sort(byOrder);
}

function toService(group: readonly Finding[]): Service {
  const [first] = group;
  if (!first) throw new Error('a service without findings');
  const { category, role, provider } = first.rule;
  const score = combineStrengths(group.length === 1 ? [first.strength] : strongestByFamily(group));
  const { version = null, platform = null } = shownBy(group) ?? {};
  return {
    category,
    role,
    provider,
    confidence: levelOf(score),
    score,
    evidence: toEvidence(group),
    version,
    platform,
  };
}

/** What the strongest finding shows; among equals the longest version, for a proxy may cut one short. */
function shownBy(group: readonly Finding[]): ShownVersion | undefined {
  let best: Finding | undefined;
  for (const finding of group) if (finding.shown && (!best || isBetterShown(finding, best))) best = finding;
  return best?.shown;
}

function isBetterShown(a: Finding, b: Finding): boolean {
  if (!a.shown || !b.shown) return a.shown !== undefined;
  if (a.strength !== b.strength) return a.strength > b.strength;
  const [version, other] = [a.shown.version, b.shown.version];
  if (version.length !== other.length) return version.length > other.length;
  // The same version with a platform says more; else the order of headers must not decide.
  return version === other ? b.shown.platform === null : version > other;
}

function strongestByFamily(group: readonly Finding[]): Iterable<number> {
  const strongest = new Map<Family, number>();
  for (const { rule, strength } of group) {
    if (strength > (strongest.get(rule.family) ?? 0)) strongest.set(rule.family, strength);
  }
  return strongest.values();
}

/** Strongest first; the same rule and value once. */
function toEvidence(group: readonly Finding[]): readonly ServiceEvidence[] {
  const sorted = group.length > 1 ? group.toSorted((a, b) => b.strength - a.strength) : group;
  const evidence: ServiceEvidence[] = [];
  for (const { rule, value } of sorted) {
    if (evidence.length === MAX_EVIDENCE) break;
    const cut = cutText(value, MAX_VALUE_LENGTH);
    if (evidence.some((known) => known.value === cut && known.rule === rule.id)) continue;
    evidence.push({ source: rule.source, value: cut, rule: rule.id });
  }
  return evidence;
}

function byOrder(a: Service, b: Service): number {
  const byCategory = CATEGORY_ORDER[a.category] - CATEGORY_ORDER[b.category];
  if (byCategory !== 0) return byCategory;
  if (a.score !== b.score) return b.score - a.score;
  return a.provider < b.provider ? -1 : 1;
}
