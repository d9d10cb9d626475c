// What the graph of a domain shows: its values that other domains publish too, and the domains that share the rare ones.
import type { StackPaths } from '@strata/client';

export type Records = StackPaths['/stack/v1/domains/{domain}/records']['body'];

export interface SharedValue {
  readonly kind: string;
  readonly value: string;
  /** Other domains; a lower bound if the value is shared. */
  readonly count: number;
  /** Of so many domains that they are not listed. */
  readonly isShared: boolean;
  /** Those of the related domains that publish it. */
  readonly domains: readonly string[];
}

/** Texts that say the same at unrelated domains. */
const COMMON = new Set(['dmarc', 'caa', 'certificate_issuer']);

/** Those of related domains first, the values of many domains last. */
export function sharedValues({ records, related }: Pick<Records, 'records' | 'related'>): readonly SharedValue[] {
  const pairs = related.flatMap(({ domain, values }) => values.map((each) => ({ domain, name: nameOf(each) })));
  const domains = Map.groupBy(pairs, ({ name }) => name);
  return records
    .filter(({ kind, other_domains }) => other_domains > 0 && !COMMON.has(kind))
    .map(({ kind, value, other_domains, shared }) => ({
      ...{ kind, value, count: other_domains, isShared: shared },
      domains: (domains.get(nameOf({ kind, value })) ?? []).map(({ domain }) => domain),
    }))
    .sort((a, b) => Number(b.domains.length > 0) - Number(a.domains.length > 0) || a.count - b.count);
}

const nameOf = ({ kind, value }: { readonly kind: string; readonly value: string }) => `${kind} ${value}`;
