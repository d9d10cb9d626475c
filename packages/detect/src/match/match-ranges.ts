// Matches the web addresses against published ranges, which are more specific than the network that announces them.

import type { AddressEvidence } from '../evidence/evidence.ts';
import type { RoleOf } from '../profile.ts';
import type { AddressRanges } from '../ranges/address-ranges.ts';
import type { Rule } from '../rulebook/matchers.ts';
import { SOURCE_OF } from '../rulebook/patterns.ts';
import { type Finding, findingOf } from './finding.ts';
import { FAMILY_OF, strengthOf } from './strengths.ts';

/** The published range of a web address. Exchanges and name servers are excluded: no range is about mail. */
export function matchRange(
  { address, use }: Pick<AddressEvidence, 'address' | 'use'>,
  { ranges, roleOf }: { readonly ranges: AddressRanges | undefined; readonly roleOf: RoleOf },
): Finding | undefined {
  if (!ranges || (use !== 'web' && use !== 'www')) return undefined;
  const range = ranges.find(address);
  if (!range) return undefined;
  const { provider, category, prefix } = range;
  const rule: Rule = {
    id: `${provider}/${SOURCE_OF.range}/range:${prefix}`,
    provider,
    category,
    role: roleOf(category, provider),
    channel: 'range',
    source: SOURCE_OF.range,
    family: FAMILY_OF.range,
    strength: strengthOf('range', category),
    isParking: false,
    hasNetworks: true,
    version: undefined,
    service: `${category} ${provider}`,
  };
  return findingOf(rule, `${address} in ${prefix}`);
}

/**
 * A network's rules without those that the range of the same address contradicts: GitHub's pages on Fastly's network.
 */
export function withoutOverruled(rules: readonly Rule[], published: Finding | undefined): readonly Rule[] {
  return published ? rules.filter(({ service }) => service === published.rule.service) : rules;
}
