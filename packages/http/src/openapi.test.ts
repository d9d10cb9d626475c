import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { type Notary, type Route, route, warmUp } from './index.ts';
import { openApiDocument } from './openapi.ts';
import { createTestServer, plain, plainBytes, routes, UNLIMITED_KEY } from './test/test-server.ts';

// Not a declared dependency: where another package installs it, it validates the document too.
const parser = await import('@scalar/openapi-parser').catch(() => undefined);
const info = { title: 'Things', version: '1.0.0', description: 'Test', tags: [{ name: 'Things', description: 'All' }] };

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: unknown }> }>;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
}

const document = openApiDocument(routes, info) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

it('the OpenAPI document is the same for the same routes, to the byte', () =>
  assert.equal(JSON.stringify(openApiDocument(routes, info)), JSON.stringify(document)));

it('the OpenAPI document describes parameters, answers and every declared problem', () => {
  const operation = document.paths['/things/{id}']?.get;
  const parameters = operation?.parameters.map((p) => `${p.name} ${p.in} ${p.required}`);
  assert.deepEqual(parameters, ['id path true', 'limit query false']);
  assert.deepEqual(Object.keys(operation?.responses ?? {}), ['200', '400', '401', '404', '429', '500', '503']);
  assert.ok(document.paths['/things']?.post?.responses['201']);
});

it('the OpenAPI document gives every operation the problems that it can answer with, and a description of them', () => {
  const schema = { $ref: '#/components/schemas/Problem' };
  for (const { operationId, responses } of operations) {
    const problems = Object.entries(responses).filter(([status]) => Number(status) >= 400);
    for (const status of ['500', '503']) assert.ok(responses[status], `${operationId} ${status}`);
    for (const [, { content }] of problems) assert.deepEqual(content?.['application/problem+json']?.schema, schema);
  }
});

it('the document is valid OpenAPI 3.1', {
  skip: parser ? false : 'the validator is not installed',
}, async () => {
  assert.ok(parser);
  const { valid, errors } = await parser.validate(JSON.stringify(document));
  assert.deepEqual([valid, errors ?? []], [true, []]);
  const broken = await parser.validate(JSON.stringify({ ...document, paths: { '/x': { get: { responses: 5 } } } }));
  assert.equal(broken.valid, false, 'the validator accepts anything');
});

it('the OpenAPI document holds schemas that are valid JSON Schema 2020-12 and agree with what the server answers', async () => {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  ajv.addSchema({ $id: 'https://test.invalid/api', ...document }, 'api');
  const schemaAt = (pointer: string) => ajv.compile({ $ref: `https://test.invalid/api#${pointer}` });
  const answer = schemaAt('/paths/~1things~1{id}/get/responses/200/content/application~1json/schema');
  const problem = schemaAt('/components/schemas/Problem');
  await using server = createTestServer();
  const headers = { 'x-stack-key': UNLIMITED_KEY };
  const get = async (url: string) => (await server.fastify.inject({ method: 'GET', url, headers })).json();
  assert.ok(answer(await get('/things/a')), JSON.stringify(answer.errors));
  for (const url of ['/things/none', '/things/a?limit=0', '/nowhere', '/things/bug'])
    assert.ok(problem(await get(url)), JSON.stringify(problem.errors));
  assert.deepEqual([answer(await get('/things/none')), problem(await get('/things/a'))], [false, false]);
});

it('the OpenAPI document refers only to schemas that it holds', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.ok(references.length > 0);
  for (const reference of references) {
    const name = reference.replace('#/components/schemas/', '');
    assert.ok(Object.hasOwn(document.components.schemas, name), reference);
  }
});

it('the OpenAPI document names every operation differently', () =>
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length));

type App = { readonly asked: string[] };
const contract = { ...plain, access: 'key' } as const;
const query = z.object({ limit: z.coerce.number().int().max(10).default(5) });
const things = route(
  { ...contract, path: '/things', query, output: { kind: 'signed', schema: z.object({ limit: z.int() }) } },
  (app: App, { limit }, { key }) => {
    app.asked.push(`${limit} ${key}`);
    return { limit };
  },
);
const output = { kind: 'csv', columns: [{ name: 'a', description: 'A' }], description: 'Rows.' } as const;
const cells = { filename: 'a.csv', rows: [['x']], isTruncated: false };
const table = route({ ...contract, path: '/table.csv', output }, (_app: App) => cells);
const file = route({ ...plainBytes, path: '/file' }, (_app: App) => ({ bytes: 'x' }));

/** Runs the rehearsals with a new app; returns what it received and what was signed. */
async function tried(...rehearsals: { route: Route<App>; query?: Record<string, string> }[]) {
  const app: App = { asked: [] };
  const signed: string[] = [];
  const notary: Notary = {
    sign: async (body) => `${signed.push(JSON.stringify(body))}`,
    signOnce: async () => '',
    signBytes: async (content) => ({ at: signed.push(Buffer.from(content as Uint8Array).toString()) }),
  };
  await warmUp(app, notary, rehearsals);
  return { asked: app.asked, signed };
}

it('a rehearsal runs a request completely, without a caller', async () => {
  const seven = { route: things, query: { limit: '7' } };
  const { asked, signed } = await tried(seven, { route: things }, { route: table });
  assert.deepEqual(asked, ['7 undefined', '5 undefined']);
  assert.match(signed[0] ?? '', /^\{"_alpha":true,.*"limit":7\}$/);
  assert.equal(signed[2], 'a\r\nx\r\n');
});

it('a rehearsal refuses a request that no caller could send, and a response that is not signed', async () => {
  await assert.rejects(tried({ route: things, query: { limit: '11' } }), /Cannot use: limit/);
  await assert.rejects(tried({ route: file }), /kind bytes is not signed/);
});
