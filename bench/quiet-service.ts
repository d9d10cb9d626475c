// The real service on a data directory, without what asks the network.
import { createLogger } from '@strata/http';
import { readConfig, startStack, type World } from '@strata/stack';

export async function startQuiet(directory: string, world: World = {}, logger = createLogger({ level: 'error' })) {
  const config = readConfig({
    STRATA_DATA: directory,
    STRATA_STACK_PORT: '0',
    STRATA_METRICS_PORT: '0',
    STRATA_SCAN: 'off',
    STRATA_ADVISORIES: 'off',
    STRATA_SCAN_OPTIONS: 'on-demand=off',
    STRATA_RESOLVERS: '127.0.0.1:9',
  });
  const running = await startStack(config, logger, world);
  const { key } = await running.app.store.keys.create({ tier: 'unlimited' });
  return Object.assign(running, { key });
}
