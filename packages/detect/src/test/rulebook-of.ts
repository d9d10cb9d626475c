// A small catalog for tests: one provider for each kind of rule and each way of reading it wrong.
import { casesOf } from '../../../../tests/support/vectors.ts';
import { detect } from '../detect.ts';
import type { Category, Profile, Service } from '../profile.ts';
import { loadCatalog } from '../rulebook/load-catalog.ts';
import { compileRulebook, type Rulebook } from '../rulebook/rulebook.ts';
import { type EvidenceParts, evidenceOf } from './evidence-of.ts';

type Group = { category: Category } & Record<string, unknown>;

export function provider(id: string, ...rules: readonly Group[]): unknown {
  return { id, name: id.toUpperCase(), website: `https://${id}.example`, rules };
}

export const testEntries: readonly unknown[] = Object.values(
  casesOf<Readonly<Record<string, readonly [id: string, ...Group[]][]>>>('detect', 'providers of the test catalog'),
).flatMap((group) => group.map(([id, ...rules]) => provider(id, ...rules)));

export const testRulebook: Rulebook = compileRulebook(loadCatalog(testEntries));

/** `category provider level` of each service, for comparison at a glance. */
export const linesOf = (services: readonly Service[]): string[] =>
  services.map(({ category, provider: id, confidence }) => `${category} ${id} ${confidence}`);

export const profileOf = (parts: EvidenceParts): Profile => detect(evidenceOf(parts), testRulebook);

export const servicesOf = (parts: EvidenceParts): string => linesOf(profileOf(parts).services).join(', ');

/** Every label that the rulebook asks for, each of which does not exist. */
export const noLabels: Readonly<Record<string, 'nxdomain'>> = Object.fromEntries(
  testRulebook.probeLabels.map((label) => [label, 'nxdomain']),
);
