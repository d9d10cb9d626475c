// Routes without a key about the service: liveness and readiness for load balancers, the network, the description.
import { CompletionError } from '@strata/inference';
import { VERSION } from '../version.ts';
import { type GatewayApp, route } from './route.ts';

/** Ids of the models that can answer. */
const readyModels = ({ models }: GatewayApp) =>
  models
    .list()
    .filter(({ backend }) => backend.isReady)
    .map(({ id }) => id);

export const getHealth = route({ method: 'GET', path: '/health', access: 'open' }, (app, _input, { reply }) => {
  const isOk = app.ownModels.length === 0 || app.ownModels.some(({ backend }) => backend.isReady);
  reply.code(isOk ? 200 : 503);
  return { status: isOk ? 'ok' : 'starting', version: VERSION, models: readyModels(app) };
});

export const getReady = route({ method: 'GET', path: '/ready', access: 'open' }, async (app, _input, { reply }) => {
  const { status, body } = await app.readiness.ready();
  if (status !== 200) return reply.code(status).send({ ...body, version: VERSION, models: [] });
  const models = readyModels(app);
  reply.code(models.length > 0 ? 200 : 503);
  return { ...body, status: models.length > 0 ? 'ready' : 'no model is ready', version: VERSION, models };
});

export const getNetwork = route(
  {
    method: 'GET',
    path: '/network',
    access: 'open',
    described: { summary: 'Peers, models, load and reputation in the network', answer: 'Network' },
  },
  ({ networkReport }, _input, { reply }) => {
    if (!networkReport)
      throw new CompletionError(
        'not_found',
        'This gateway is not connected to a network: it serves only the models of its settings.',
      );
    return reply
      .header('cache-control', 'public, max-age=1')
      .type('application/json; charset=utf-8')
      .send(networkReport());
  },
);

const REPORT_MS = 1_000;

/** The report as JSON, built at most once a second. */
export function cachedReport(report: () => object): () => string {
  let body = '';
  let builtAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - builtAtMs > REPORT_MS) {
      body = JSON.stringify(report());
      builtAtMs = performance.now();
    }
    return body;
  };
}

export const getOpenApi = route({ method: 'GET', path: '/openapi.json', access: 'open' }, ({ openApi }) => openApi());
