// `strata inference worker`: an engine of this machine, lent to a gateway elsewhere, which takes it as an upstream.
import { type GatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { CommandError, type OutputOptions, printJson } from '../output.ts';

/** Serves until SIGINT or SIGTERM; the key that it prints is good as long. */
export async function workerCommand(config: GatewayConfig, { json = false }: OutputOptions): Promise<void> {
  if (config.model === undefined)
    throw new CommandError('no model to lend: name a GGUF file or hf:owner/repository with --model or STRATA_MODEL', {
      exitCode: 2,
    });
  const stopping = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.resolve());
  await using running = await startGateway(config, createLogger({ level: config.logLevel }));
  const { keys, models } = running.gateway;
  const { key, stored } = await keys.create({ tier: 'unlimited', label: 'worker' });
  const settings = {
    STRATA_UPSTREAM: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${running.port}/v1`,
    STRATA_UPSTREAM_KEY: key,
    STRATA_UPSTREAM_MODELS: models
      .list()
      .map(({ id }) => id)
      .join(','),
    STRATA_UPSTREAM_PLACES: String(models.list().reduce((sum, { backend }) => sum + backend.facts.slots, 0)),
  };
  if (json) printJson(settings);
  else {
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    process.stdout.write(lines.join(''));
    process.stderr.write('ready; start the gateway with these settings, the address as it sees this machine\n');
  }
  await stopping.promise;
  await keys.revoke(stored.id);
}
