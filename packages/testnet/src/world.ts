// The inputs of plans, zones, pages and truth: the seed, the providers' templates, and the name servers' addresses.
import { allNetworks, type Network } from './dns/networks.ts';
import { type ServerAddresses, serverAddressesOf } from './dns/server-addresses.ts';
import { providerNamesOf, type Templates, templatesWith } from './providers/index.ts';
import { longTailOf } from './providers/long-tail.ts';
import type { ProviderName } from './providers/template.ts';

export interface World {
  readonly seed: string;
  readonly templates: Templates;
  readonly providerNames: readonly ProviderName[];
  readonly networks: readonly Network[];
  readonly servers: ServerAddresses;
}

/** `catalog` adds a long tail of providers; without it there are only the handwritten ones. */
export function worldOf(seed: string, catalog?: readonly unknown[]): World {
  const tail = catalog && longTailOf(catalog);
  const templates = templatesWith(tail);
  return {
    seed,
    templates,
    providerNames: providerNamesOf(templates),
    networks: [...allNetworks, ...(tail?.networks ?? [])],
    servers: serverAddressesOf(templates, seed),
  };
}
