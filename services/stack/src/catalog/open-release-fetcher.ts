// The fetcher of catalog releases: the operator's URL at any port, a redirect only to addresses that any host may have.
import { createNamedFetcher, type Fetcher } from '@strata/scan';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { outboundOptions } from '../scan/open-fetcher.ts';

/** For a server on the real internet, even if the domains are simulated. */
export function openReleaseFetcher(url: string, config: Config, world: World = {}): Fetcher {
  const { dial: _dial, trustedCa: _ofDomains, resolver, ...options } = outboundOptions(config, world);
  return createNamedFetcher([url], { ...options, resolver: world.dial ? {} : resolver });
}
