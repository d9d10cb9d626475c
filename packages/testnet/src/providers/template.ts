// What the provider tables have in common: names that the provider itself keeps in DNS, beside what customers publish.
import type { NetworkId } from '../networks.ts';

/**
 * A suffix under which every name exists: `host` has A and AAAA in the network, `spf` an SPF record over it,
 * `dkim` a DKIM key, `text` a report authorisation (RFC 7489 §7.1).
 */
export interface ProviderName {
  readonly suffix: string;
  readonly network: NetworkId;
  readonly has: readonly ('host' | 'spf' | 'dkim' | 'report')[];
}

export function names(network: NetworkId, has: ProviderName['has'], ...suffixes: readonly string[]): ProviderName[] {
  return suffixes.map((suffix) => ({ suffix, network, has }));
}
