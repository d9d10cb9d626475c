// Both services as they are served, without any internet.
import type { RequestListener } from 'node:http';
import { after, before } from 'node:test';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { readConfig, startStack } from '@strata/stack';
import { fakeService } from './fake-service.ts';
import { settingsOf } from './serve-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

type BothServices = Awaited<ReturnType<typeof startBothServices>>;

type Settings = Readonly<Record<string, string>>;

export async function startBothServices(settings: Settings = {}) {
  await using owned = new AsyncDisposableStack();
  const directory = owned.use(await temporaryDirectory()).path;
  // Its errors repeat the request's headers, the key included.
  const answer: RequestListener = (request, response) => {
    const isList = request.url === '/v1/models';
    response.writeHead(isList ? 200 : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isList ? { object: 'list', data: [{ id: 'model' }] } : { error: request.headers }));
  };
  const upstream = owned.use(await fakeService(answer));
  const log: string[] = [];
  const logger = createLogger({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  const given = {
    ...settingsOf(directory),
    ...{ STRATA_INFERENCE_PORT: '0', STRATA_UPSTREAM: `${upstream.base}/v1`, STRATA_UPSTREAM_MODELS: 'model' },
    ...settings,
  };
  const stack = owned.use(await startStack(readConfig(given), logger));
  const { gateway, port } = owned.use(await startGateway(readGatewayConfig(given), logger));
  const { app } = stack;
  const stackKey = (await app.store.keys.create({ tier: 'unlimited' })).key;
  const gatewayKey = (await gateway.keys.create({ tier: 'unlimited' })).key;
  const ports = { stackPort: stack.port, metricsPort: stack.metricsPort, gatewayPort: port };
  return Object.assign(owned.move(), { ...ports, stackKey, gatewayKey, log });
}

/** Services for the tests of the suite that calls this, stopped after them. */
export function useBothServices(settings: () => Settings | Promise<Settings> = () => ({})) {
  let services: BothServices;
  before(async () => {
    services = await startBothServices(await settings());
  });
  after(() => services?.[Symbol.asyncDispose]());
  return () => services;
}
