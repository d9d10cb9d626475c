// Findings -> services: grouped by category and provider, weighed by independent families, evidence truncated.

import { cutText } from '../evidence/text.ts';
import type { Finding } from '../match/finding.ts';
import { combineStrengths, levelOf } from '../match/strengths.ts';
import type { ShownVersion } from '../match/version.ts';
import { CATEGORIES, type Category, type Service, type ServiceEvidence } from '../profile.ts';

/** Enough to explain a service; a page may reference one provider in a hundred assets. */
const MAX_EVIDENCE = 12;
const MAX_VALUE_LENGTH = 256;

const CATEGORY_ORDER = Object.fromEntries(CATEGORIES.map((category, i) => [category, i])) as Record<Category, number>;

/** Services in the profile's order: category, then score, then provider. */
export function weighFindings(findings: readonly Finding[]): readonly Service[] {
  const groups = Map.groupBy(findings, ({ rule }) => rule.service);
  const services = [...groups.values()].map((group) => toService(group.sort((a, b) => b.strength - a.strength)));
  return services.sort(compareServices);
}

/** `group` is sorted by strength, the strongest first. */
function toService(group: readonly Finding[]): Service {
  const [first] = group;
  if (!first) throw new Error('a service without findings');
  const { category, role, provider } = first.rule;
  const score = combineStrengths(group);
  const shown = shownBy(group);
  return {
    category,
    role,
    provider,
    confidence: levelOf(score),
    score,
    evidence: toEvidence(group),
    version: shown ? shown.version : null,
    platform: shown ? shown.platform : null,
  };
}

/** The version of the strongest finding that has one; among equals the longest, because a proxy may truncate it. */
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
  // The same version with a platform is more specific. Otherwise the text decides, so that the order of headers does not.
  return version === other ? b.shown.platform === null : version > other;
}

/** Each pair of rule and value once. */
function toEvidence(group: readonly Finding[]): readonly ServiceEvidence[] {
  const evidence: ServiceEvidence[] = [];
  for (const finding of group) {
    if (evidence.length === MAX_EVIDENCE) break;
    const next = evidenceOf(finding);
    if (!evidence.some(({ rule, value }) => rule === next.rule && value === next.value)) evidence.push(next);
  }
  return evidence;
}

function evidenceOf({ rule, value }: Finding): ServiceEvidence {
  return { source: rule.source, value: cutText(value, MAX_VALUE_LENGTH), rule: rule.id };
}

function compareServices(a: Service, b: Service): number {
  if (a.category !== b.category) return CATEGORY_ORDER[a.category] - CATEGORY_ORDER[b.category];
  return b.score - a.score || (a.provider < b.provider ? -1 : 1);
}
