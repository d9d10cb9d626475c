// The document fetcher with the prober's resolvers, address rules and user agent.
import { createFetcher, type Fetcher } from '@strata/scan';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { originsOf } from '../enrichment/sources.ts';
import { API_VERSION } from '../roles/api-info.ts';

export function openFetcher(config: Config, world: World): Fetcher {
  return createFetcher({ ...outboundOptions(config, world), trustedOrigins: originsOf(config) });
}

/** For messages to the channels of watchlists, which are on the real internet even if the domains are simulated. */
export function openMessageFetcher(config: Config, world: World): Fetcher {
  const { dial: _dial, trustedCa: _ofDomains, resolver, ...options } = outboundOptions(config, world);
  return createFetcher({ ...options, resolver: world.dial ? {} : resolver, hasHighPorts: true, maxSockets: 64 });
}

/** What all requests of the service to the internet have in common. */
export function outboundOptions(config: Config, world: World) {
  return {
    resolver: {
      upstreams: config.resolvers,
      ...(world.dnsTryTimeoutMs ? { tryTimeoutMs: world.dnsTryTimeoutMs } : {}),
    },
    allowAddresses: config.allowAddresses,
    /** Identifies the scanner and how to opt out. */
    userAgent: `StrataBot/${API_VERSION} (+${config.contactUrl})`,
    ...(world.trustedCa && { trustedCa: world.trustedCa }),
    ...(world.dial ? { dial: world.dial } : {}),
  };
}
