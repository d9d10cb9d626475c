// A real service on the simulated internet, for commands that ask one; the tests of a run share it.
import { createLogger } from '@strata/http';
import { readConfig, startStack } from '@strata/stack';
import { createInternet } from '@strata/testnet';
import { shared, temporaryDirectory } from '../../../../tests/support/index.ts';

/** With the key of an API without a limit, and a company that can be scanned. */
export const liveService = shared(async () => {
  await using stack = new AsyncDisposableStack();
  const internet = stack.use(await createInternet({ domains: 60, hasFaults: false }));
  const directory = stack.use(await temporaryDirectory()).path;
  const { address, port } = internet.resolver;
  const ports = { STRATA_STACK_PORT: '0', STRATA_METRICS_PORT: '0', STRATA_RESOLVERS: `${address}:${port}` };
  const config = readConfig({ STRATA_DATA: directory, STRATA_SCAN: 'off', STRATA_ADVISORIES: 'off', ...ports });
  const world = { dial: (to: { address: string; port: number }) => internet.dial(to), trustedCa: [internet.caPem] };
  const running = stack.use(await startStack(config, createLogger({ level: 'silent' }), world));
  const { key } = await running.app.store.keys.create({ tier: 'unlimited' });
  const named = { base: `http://127.0.0.1:${running.port}`, domain: internet.domains()[1] ?? '' };
  return Object.assign(stack.move(), { internet, running, key, directory, ...named });
});
