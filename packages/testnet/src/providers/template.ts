// Common types of the provider tables: DNS names of the provider itself, in addition to what customers publish.
import type { NetworkRef } from '../dns/networks.ts';

/**
 * A suffix under which every name exists: `host` has A and AAAA in the network, `spf` an SPF record over it,
 * `dkim` a DKIM key, `report` a report authorisation (RFC 7489 §7.1); `text` a literal TXT record.
 */
export interface ProviderName {
  readonly suffix: string;
  readonly network: NetworkRef;
  readonly has: readonly ('host' | 'spf' | 'dkim' | 'report')[];
  readonly text?: string;
}

/** A further provider that the records, headers or pages of one reveal, without being asked for. */
export interface Revealed {
  readonly category: string;
  readonly provider: string;
}

export function names(network: NetworkRef, has: ProviderName['has'], ...suffixes: readonly string[]): ProviderName[] {
  return suffixes.map((suffix) => ({ suffix, network, has }));
}
