// Matches the web addresses against published addresses and ranges, which are more specific than the network that
// announces them.

import type { AddressEvidence } from '../evidence/evidence.ts';
import { mainRoleOf, type RoleOf } from '../profile.ts';
import type { AddressRanges } from '../ranges/address-ranges.ts';
import { addressText, parseAddress } from '../ranges/ip-address.ts';
import type { Rule } from '../rulebook/matchers.ts';
import { SOURCE_OF } from '../rulebook/patterns.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { type Finding, findingOf } from './finding.ts';
import { FAMILY_OF, strengthOf } from './strengths.ts';

const NOTHING: readonly Finding[] = [];

/**
 * What is published about a web address: the catalog's entries for the address, otherwise the range that contains it.
 * Exchanges and name servers are excluded: nothing published is about mail.
 */
export function matchPublished(
  { address, use }: Pick<AddressEvidence, 'address' | 'use'>,
  { matchers, ranges, roleOf }: Pick<Rulebook, 'matchers' | 'ranges' | 'roleOf'>,
): readonly Finding[] {
  if (use !== 'web' && use !== 'www') return NOTHING;
  const listed = matchers.addresses.get(canonicalText(address));
  if (listed) return listed.map((rule) => findingOf(rule, address));
  const range = ranges && matchRange(address, { ranges, roleOf });
  return range ? [range] : NOTHING;
}

/** IPv6 addresses have several forms; resolvers do not all use the one of RFC 5952. */
function canonicalText(address: string): string {
  const words = address.includes(':') ? parseAddress(address) : null;
  return words ? addressText(words) : address;
}

function matchRange(
  address: string,
  { ranges, roleOf }: { readonly ranges: AddressRanges; readonly roleOf: RoleOf },
): Finding | undefined {
  const range = ranges.find(address);
  if (!range) return undefined;
  const { provider, category, prefix } = range;
  const rule: Rule = {
    id: `${provider}/${SOURCE_OF.range}/range:${prefix}`,
    provider,
    category,
    role: roleOf(category, provider) ?? mainRoleOf(category),
    channel: 'range',
    source: SOURCE_OF.range,
    family: FAMILY_OF.range,
    strength: strengthOf('range', category),
    isParking: false,
    isShared: false,
    hasNetworks: true,
    version: undefined,
    service: `${category} ${provider}`,
  };
  return findingOf(rule, `${address} in ${prefix}`);
}

/**
 * A network's rules; where something is published about the same address, only those of that service: GitHub's pages on
 * Fastly's network.
 */
export function withoutOverruled(rules: readonly Rule[], published: readonly Finding[]): readonly Rule[] {
  if (published.length === 0) return rules;
  return rules.filter(({ service }) => published.some(({ rule }) => rule.service === service));
}
