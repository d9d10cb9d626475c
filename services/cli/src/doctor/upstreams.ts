// Checks whether other servers that run models answer, accept their keys, and have their models.
import type { RemoteServer } from '@strata/engine';
import type { GatewayConfig } from '@strata/gateway';
import { type Finding, ok, problem, warning } from './finding.ts';

type Server = GatewayConfig['upstreams']['servers'][number];

/** Of STRATA_UPSTREAMS. A warning, as the gateway starts without it, and other targets may answer. */
export async function checkUpstream({ name, baseUrl, apiKey, models }: Server): Promise<Finding> {
  const check = `upstream ${name}`;
  const { openUpstream, UpstreamPages } = await import('@strata/engine');
  const engines = new Set<string>();
  const pages = new UpstreamPages();
  try {
    for (const model of models) {
      const options = { ...{ baseUrl, model, slots: 1, retries: 0 }, ...(apiKey === undefined ? {} : { apiKey }) };
      await using upstream = await openUpstream(options, { pages });
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

/** The inference server of a worker, which asks it the same. */
export async function checkEngine(server: RemoteServer): Promise<Finding> {
  const check = 'engine';
  const { tryRemote } = await import('@strata/engine');
  try {
    const { engine, model, lacks = [] } = await tryRemote(server);
    return ok(check, `${engine} with ${model}, without ${lacks.join(', ')}`);
  } catch (error) {
    return problem(check, {
      found: `${new URL(server.url).host}: ${(error as Error).message}`,
      means: 'The worker does not start, or offers nothing.',
      todo: 'Start the server, or correct STRATA_ENGINE.',
    });
  }
}
