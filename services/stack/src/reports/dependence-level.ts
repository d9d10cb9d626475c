// The risk of a provider's failure, with reasons: by its market shares and by its customers without another provider.
import type { SupplyChain } from '@strata/analytics';
import { ROLE_FACTS } from '@strata/detect';

export type DependenceLevel = 'low' | 'medium' | 'high' | 'critical';
const LEVELS: readonly DependenceLevel[] = ['low', 'medium', 'high', 'critical'];

/** Minimum market shares; the US merger guidelines of 2023 presume market power above 30 %. */
const SHARE_LEVELS = [
  [0.5, 3],
  [0.3, 2],
  [0.1, 1],
] as const;
/** The highest level by the share of a role without which mail and the site still work. */
const NOT_CRITICAL = 1;
const REACH_LEVELS = [
  [0.3, 2],
  [0.1, 1],
] as const;

export function dependenceLevel(
  { roleMarkets, dependentDomains, soleSourceDomains }: SupplyChain,
  { name, domains }: { readonly name: string; readonly domains: number },
): { readonly risk_level: DependenceLevel; readonly reasons: string[] } {
  const reasons: string[] = [];
  let level = 0;
  for (const { market, share } of roleMarkets) {
    // A share of a few domains is not a market share.
    if (market.band === 'insufficient_data') continue;
    const { label, isCritical } = ROLE_FACTS[market.role];
    const ofShare = SHARE_LEVELS.find(([from]) => share >= from)?.[1] ?? 0;
    const reached = isCritical ? ofShare : Math.min(ofShare, NOT_CRITICAL);
    if (reached === 0) continue;
    level = Math.max(level, reached);
    reasons.push(`${name} holds ${percent(share)} of ${label} (HHI ${Math.round(market.hhi ?? 0)}, ${market.band}).`);
  }
  const reach = domains === 0 ? 0 : dependentDomains / domains;
  const reached = REACH_LEVELS.find(([from]) => reach >= from)?.[1] ?? 0;
  if (reached > 0) {
    level = Math.max(level, reached);
    reasons.push(`${percent(reach)} of all domains use it.`);
  }
  if (level > 0 && dependentDomains > 0 && soleSourceDomains / dependentDomains >= 0.5) {
    reasons.push(`${percent(soleSourceDomains / dependentDomains)} of its domains have no other provider in a role.`);
  }
  if (reasons.length === 0) reasons.push('It has 10 % or more in no market with sufficient data.');
  return { risk_level: LEVELS[level] ?? 'low', reasons };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
