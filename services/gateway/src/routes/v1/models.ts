// `GET /v1/models`.
import { z } from 'zod';
import { modelReport } from '../../answers/models.ts';
import { route } from '../route.ts';
import { allowedTo } from './answering.ts';

export const getModels = route(
  {
    method: 'GET',
    path: '/v1/models',
    described: { summary: 'List the models', answer: { listOf: 'Model' } },
  },
  ({ models }, _input, { request }) => {
    const isAllowed = allowedTo(request) ?? (() => true);
    const allowed = models.list().filter(({ id }) => isAllowed(id));
    return { object: 'list', data: allowed.map(modelReport) };
  },
);

export const getModel = route(
  {
    method: 'GET',
    // Model names may contain slashes.
    path: '/v1/models/{id*}',
    params: z.object({ id: z.string() }),
    described: { summary: 'Get a model', answer: 'Model' },
  },
  ({ models }, { id }, { request }) => modelReport(models.get(id, allowedTo(request))),
);
