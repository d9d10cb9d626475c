// Checks whether an upstream of STRATA_UPSTREAMS answers, accepts its key, and has its models.
import type { GatewayConfig } from '@strata/gateway';
import { type Finding, ok, warning } from './finding.ts';

type Server = GatewayConfig['upstreams']['servers'][number];

/** A warning, as the gateway starts without it, and other targets may answer. */
export async function checkUpstream({ name, baseUrl, apiKey, models }: Server): Promise<Finding> {
  const check = `upstream ${name}`;
  const { openUpstream } = await import('@strata/engine');
  const engines = new Set<string>();
  try {
    for (const model of models) {
      const options = { ...{ baseUrl, model, slots: 1, retries: 0 }, ...(apiKey === undefined ? {} : { apiKey }) };
      await using upstream = await openUpstream(options);
      engines.add(upstream.info.engine);
    }
    return ok(check, `${[...engines].join(', ')} with ${models.join(', ')}`);
  } catch (error) {
    return warning(check, {
      found: (error as Error).message,
      means: 'Its requests fail, or go to other targets of their names.',
      todo: 'Start it, or correct its url, key and models in STRATA_UPSTREAMS.',
    });
  }
}
