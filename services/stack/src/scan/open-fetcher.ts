// The fetcher of documents, set up as the prober is: the same resolvers, the same rules of whom it may visit, the same name.
import { createFetcher, type Fetcher } from '@strata/scan';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { originsOf } from '../enrichment/sources.ts';
import { API_VERSION } from '../roles/api-info.ts';

export function openFetcher(config: Config, world: World): Fetcher {
  return createFetcher({
    resolver: {
      upstreams: config.resolvers,
      ...(world.dnsTryTimeoutMs ? { tryTimeoutMs: world.dnsTryTimeoutMs } : {}),
    },
    allowAddresses: config.allowAddresses,
    trustedOrigins: originsOf(config),
    userAgent: userAgentOf(config),
    trustedCa: world.trustedCa ?? [],
    ...(world.dial ? { dial: world.dial } : {}),
  });
}

/** Who asks, and how to opt out. */
export const userAgentOf = (config: Config) => `StrataBot/${API_VERSION} (+${config.contactUrl})`;
