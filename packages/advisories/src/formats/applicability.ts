// CPE applicability statements in the format of NVD's `configurations` and a CVE record's `cpeApplicability`.
// https://csrc.nist.gov/schema/nvd/api/2.0/cve_api_json_2.0.schema
import { z } from 'zod';
import type { ConfigurationClaim, ConfigurationNode, CpeCriterion, ProductKey, VersionRange } from '../advisory.ts';
import { cpeProductKey } from './cpe-key.ts';
import { compareBounds } from './order.ts';
import { bounded, MAX_CLAIMED, Name, Version } from './reading.ts';

const Operator = z.enum(['AND', 'OR']);
const Criterion = z.object({
  vulnerable: z.boolean(),
  criteria: Name.startsWith('cpe:2.3:'),
  versionStartIncluding: Version.optional(),
  versionStartExcluding: Version.optional(),
  versionEndIncluding: Version.optional(),
  versionEndExcluding: Version.optional(),
});
const Node = z.object({ operator: Operator, negate: z.boolean().optional(), cpeMatch: bounded(Criterion) });
const Configuration = z.object({
  operator: Operator.optional(),
  negate: z.boolean().optional(),
  nodes: bounded(Node),
});

export const Applicability = bounded(Configuration);

/** One claim each; `isCut` if some were left out because there were too many criteria. */
export function configurationClaims(configurations: z.infer<typeof Applicability>): {
  readonly claims: readonly ConfigurationClaim[];
  readonly isCut: boolean;
} {
  const claims: ConfigurationClaim[] = [];
  let left = MAX_CLAIMED;
  let isCut = false;
  for (const configuration of configurations) {
    const size = configuration.nodes.reduce((sum, { cpeMatch }) => sum + cpeMatch.length, 0);
    // A partial configuration would have a different meaning, so it is complete or left out.
    if (size > left) {
      isCut = true;
      continue;
    }
    left -= size;
    const claim = claimOf(configuration);
    if (claim.products.length > 0) claims.push(claim);
  }
  return { claims, isCut };
}

function claimOf({ operator, negate, nodes }: z.infer<typeof Configuration>): ConfigurationClaim {
  const products = new Set<ProductKey>();
  for (const { cpeMatch } of nodes) {
    for (const { vulnerable, criteria } of cpeMatch) {
      const key = vulnerable ? cpeProductKey(criteria) : undefined;
      if (key !== undefined) products.add(key);
    }
  }
  const children = nodes.map(nodeOf);
  // NVD wraps most single nodes in a configuration without further meaning.
  const [only] = children.length === 1 && negate !== true ? children : [];
  const root = only ?? { kind: 'node', operator: operator ?? 'OR', isNegated: negate ?? false, children };
  return { kind: 'configuration', products: [...products], root };
}

function nodeOf({ operator, negate, cpeMatch }: z.infer<typeof Node>): ConfigurationNode {
  return { kind: 'node', operator, isNegated: negate ?? false, children: cpeMatch.map(criterionOf) };
}

function criterionOf(match: z.infer<typeof Criterion>): CpeCriterion {
  return { kind: 'cpe', name: match.criteria, isVulnerable: match.vulnerable, range: rangeOf(match) };
}

function rangeOf(match: z.infer<typeof Criterion>): VersionRange {
  return {
    ...boundOf('from', match.versionStartIncluding, match.versionStartExcluding),
    ...boundOf('to', match.versionEndIncluding, match.versionEndExcluding),
  };
}

function boundOf(side: 'from' | 'to', including: string | undefined, excluding: string | undefined): VersionRange {
  const inclusive = including?.trim();
  const exclusive = excluding?.trim();
  if (!exclusive) return inclusive ? { [side]: { version: inclusive, isInclusive: true } } : {};
  // If both are given, both apply.
  const order = inclusive ? compareBounds(inclusive, exclusive) : 0;
  const isInclusive = side === 'from' ? order > 0 : order < 0;
  return { [side]: { version: isInclusive && inclusive ? inclusive : exclusive, isInclusive } };
}
