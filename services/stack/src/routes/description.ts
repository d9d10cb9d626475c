// The OpenAPI document, and the descriptions behind the type URIs of problems.
import { ERRORS, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../context.ts';

export const getOpenApi = route(
  {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Status',
    summary: 'This description',
    output: { kind: 'json', description: 'An OpenAPI 3.1 document.', schema: z.looseObject({ openapi: z.string() }) },
    access: 'open',
  },
  (app: StackApp) => app.openApi,
);

export const getProblem = route(
  {
    method: 'GET',
    path: '/problems/{code}',
    tag: 'Status',
    summary: 'What a problem means',
    params: z.object({ code: z.string().max(64) }),
    output: {
      kind: 'signed',
      schema: z.object({ code: z.string(), status: z.int(), title: z.string(), detail: z.string() }),
    },
    errors: ['not_found'],
    access: 'open',
    cache: (_app: StackApp, { code }) => ({ key: `problem ${code}`, tags: [] }),
  },
  (_app, { code }, context) => {
    if (!Object.hasOwn(ERRORS, code)) return context.refuse('not_found', 'There is no such problem.');
    return { code, ...ERRORS[code as keyof typeof ERRORS] };
  },
);
