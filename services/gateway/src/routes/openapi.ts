// The OpenAPI 3.1 description, generated from the routes: request schemas are those that validate requests.
import { requestSchemas } from '@strata/inference';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { adminAnswers, adminBodies } from './admin/schemas.ts';
import { routes } from './index.ts';
import type { Route } from './route.ts';
import { answers } from './v1/schemas.ts';

/** The document; tests compare it with `openapi/gateway.json` and with real responses. */
export function gatewayOpenApi() {
  const schemas = (named: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') =>
    Object.entries(named).map(([name, schema]) => {
      const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
      return [name, rest];
    });
  return {
    openapi: '3.1.1',
    info: {
      title: 'Strata inference',
      version: VERSION,
      description:
        'An OpenAI-compatible inference API. `null` selects the default of a field; unknown fields are ignored.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ key: [] }],
    paths: pathsOf(routes),
    components: {
      schemas: Object.fromEntries([
        ...schemas({ ...requestSchemas, ...adminBodies }, 'input'),
        ...schemas({ ...answers, ...adminAnswers }, 'output'),
      ]),
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key, `sk-…`; an admin key for `/admin`.' },
      },
    },
  };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ 'application/json': { schema } });
const CSV = { 'text/csv': { schema: { type: 'string' } } };
const textHeader = (description: string) => ({ description, schema: { type: 'string' } });

/** Headers of answers with a receipt. */
const RECEIPT_HEADERS = {
  'x-receipt-id': textHeader('The id of the signed receipt.'),
  'x-model-verified': textHeader('How far it is proved which model answers: the level, with a `reason`.'),
  'x-answered-by': textHeader(
    'Of a name that several targets answer: the upstream, or `gateway`; `model`, `attempts`.',
  ),
  'x-answer-id': textHeader('Of a stored stream, before its first event: as `Last-Event-ID` it gives all events.'),
  'x-receipt-salt': textHeader(
    "The HMAC key of the receipt's digests, 64 hexadecimal digits. It is returned only here.",
  ),
};

function pathsOf(all: readonly Route[]): Readonly<Record<string, object>> {
  const paths: Record<string, object> = {};
  for (const [url, operation] of all.flatMap(({ contract }) => pathOf(contract)))
    paths[url] = { ...paths[url], ...operation };
  return paths;
}

/** Path and operation; nothing for a route that is not described. */
function pathOf({
  method,
  path,
  access,
  isAdmin,
  described,
  bodySchema,
  ...input
}: Route['contract']): readonly [string, object][] {
  const { params, query, body } = input;
  if (!described) return [];
  const { summary, description, answer, status = 200, stream } = described;
  const url = path.replace('*}', '}');
  const named = bodySchema ?? body?.schema;
  const schema =
    typeof answer === 'string'
      ? ref(answer)
      : {
          type: 'object',
          required: ['object', 'data'],
          properties: { object: { const: 'list' }, data: { type: 'array', items: ref(answer.listOf) } },
        };
  const parameters = [
    ...Object.keys(params?.shape ?? {}).map((name) => ({
      ...{ name, in: 'path', required: true, schema: { type: 'string' } },
    })),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => {
      const { $schema: _dialect, description: about, ...rest } = z.toJSONSchema(schema, { io: 'output' });
      return { name, in: 'query', required: false, ...(about ? { description: about } : {}), schema: rest };
    }),
  ];
  const ending = method === 'DELETE' || (isAdmin && method !== 'GET') ? `_${method.toLowerCase()}` : '';
  const operation = {
    summary,
    ...(description ? { description } : {}),
    operationId: url.replaceAll(/[^a-z]+/g, '_').replaceAll(/^_|_$/g, '') + ending,
    ...(access === 'open' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(named ? { requestBody: { required: true, content: json(ref(named)) } } : {}),
    responses: {
      [status]: {
        description: stream ?? summary,
        ...(body ? { headers: RECEIPT_HEADERS } : {}),
        content:
          answer === 'Csv'
            ? CSV
            : { ...json(schema), ...(stream ? { 'text/event-stream': { schema: { type: 'string' } } } : {}) },
      },
      default: { description: 'An error.', content: json(ref('Error')) },
    },
  };
  return [[url, { [method.toLowerCase()]: operation }]];
}
