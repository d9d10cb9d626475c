// Findings -> services: grouped by category and provider, weighed by independent families, evidence kept short.

import { cutText } from '../evidence/text.ts';
import type { Finding } from '../match/finding.ts';
import { combineStrengths, levelOf } from '../match/strengths.ts';
import type { ShownVersion } from '../match/version.ts';
import { CATEGORIES, type Category, type Service, type ServiceEvidence } from '../profile.ts';

/** Enough to see why; a page may name one provider in a hundred assets. */
const MAX_EVIDENCE = 12;
const MAX_VALUE_LENGTH = 256;

const CATEGORY_ORDER = Object.fromEntries(CATEGORIES.map((category, i) => [category, i])) as Record<Category, number>;

/** Services in the profile's order: category, then score, then provider. */
export function weighFindings(findings: readonly Finding[]): readonly Service[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const group = groups.get(finding.rule.service);
    if (group) insert(group, finding);
    else groups.set(finding.rule.service, [finding]);
  }
  const services: Service[] = [];
  for (const group of groups.values()) services.push(toService(group));
  return inOrder(services);
}

/** Strongest first, and of equals the one that was found first. */
function insert(group: Finding[], finding: Finding): void {
  let at = group.length;
  for (; at > 0 && (group[at - 1] as Finding).strength < finding.strength; at--) group[at] = group[at - 1] as Finding;
  group[at] = finding;
}

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

/** The same rule and value once. */
function toEvidence(group: readonly Finding[]): readonly ServiceEvidence[] {
  const [first] = group;
  if (first && group.length === 1) return [evidenceOf(first)];
  const evidence: ServiceEvidence[] = [];
  for (const finding of group) {
    if (evidence.length === MAX_EVIDENCE) break;
    const each = evidenceOf(finding);
    if (!isTold(evidence, each)) evidence.push(each);
  }
  return evidence;
}

function isTold(evidence: readonly ServiceEvidence[], { rule, value }: ServiceEvidence): boolean {
  for (const known of evidence) if (known.rule === rule && known.value === value) return true;
  return false;
}

function evidenceOf({ rule, value }: Finding): ServiceEvidence {
  return { source: rule.source, value: cutText(value, MAX_VALUE_LENGTH), rule: rule.id };
}

/** Each service is put in its place: there are few, and nearly in order already. */
function inOrder(services: readonly Service[]): readonly Service[] {
  const sorted: Service[] = [];
  for (const service of services) {
    let at = sorted.length;
    for (; at > 0 && isBefore(service, sorted[at - 1] as Service); at--) sorted[at] = sorted[at - 1] as Service;
    sorted[at] = service;
  }
  return sorted;
}

function isBefore(service: Service, other: Service): boolean {
  if (service.category !== other.category) return CATEGORY_ORDER[service.category] < CATEGORY_ORDER[other.category];
  return service.score === other.score ? service.provider < other.provider : service.score > other.score;
}
