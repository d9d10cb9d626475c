// `GET /v1/models`.
import { z } from 'zod';
import { modelReport } from '../../answers/models.ts';
import { route } from '../route.ts';

export const getModels = route(
  {
    method: 'GET',
    path: '/v1/models',
    described: { summary: 'List the models', answer: { listOf: 'Model' } },
  },
  ({ models }) => ({ object: 'list', data: models.list().map(modelReport) }),
);

export const getModel = route(
  {
    method: 'GET',
    // Model names may contain slashes.
    path: '/v1/models/{id*}',
    params: z.object({ id: z.string() }),
    described: { summary: 'Get a model', answer: 'Model' },
  },
  ({ models }, { id }) => modelReport(models.get(id)),
);
