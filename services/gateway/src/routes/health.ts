// Liveness and readiness for load balancers, and the description of the API; without a key.
import { DATA_MODEL } from '../answers/models.ts';
import { VERSION } from '../version.ts';
import { type GatewayApp, route } from './route.ts';

/** Ids of the language models that can answer: the data alone does not make a gateway ready. */
const readyModels = ({ models }: GatewayApp) =>
  models
    .list()
    .filter(({ id, backend }) => backend.isReady && id !== DATA_MODEL)
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

export const getOpenApi = route({ method: 'GET', path: '/openapi.json', access: 'open' }, ({ openApi }) => openApi());
