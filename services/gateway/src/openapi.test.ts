// The description of the API is the committed one, names every route below /v1, and is true of real answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { gatewayOpenApi } from './openapi.ts';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

const document = gatewayOpenApi();

describe('openapi/gateway.json', () => {
  let service: Harness;
  before(async () => {
    service = await startHarness();
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('is what the code says', () => {
    const file = path.join(import.meta.dirname, '../../../openapi/gateway.json');
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(JSON.stringify(document)), 'npm run openapi');
  });

  it('names every route below /v1, and is served', async () => {
    // A tree: what hangs below a line with a path begins with it.
    const listed = service.running.gateway.server.fastify.printRoutes({ commonPrefix: false });
    // Below `/`, which has a page, they stand without their first slash.
    const routes = [...listed.matchAll(/(\S+) \((GET, HEAD|POST)\)/g)].map(([, route = '']) =>
      route.startsWith('v1/') ? `/${route}` : route,
    );
    const full = routes.map((route, at) =>
      /^\/?\*$/.test(route) ? `${routes[at - 1]}/{id}` : route.replace(':id', '{id}'),
    );
    const own = full.filter((route) => route.startsWith('/v1/'));
    const described = Object.keys(document.paths).filter((route) => route.startsWith('/v1/'));
    assert.deepEqual(own.sort(), described.sort());
    assert.deepEqual(
      (await (await fetch(`${service.base}/openapi.json`)).json()) as Json,
      JSON.parse(JSON.stringify(document)),
    );
  });

  it('is true of answers', async () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(JSON.parse(JSON.stringify(document)), 'api');
    const holds = (name: string, body: Json) => {
      const isValid = ajv.getSchema(`api#/components/schemas/${name}`);
      assert.ok(isValid, name);
      assert.ok(isValid(body), `${name}: ${ajv.errorsText(isValid.errors)} ${JSON.stringify(body)}`);
    };
    const messages = [{ role: 'user', content: 'What is DMARC?' }];
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
    const chat = { model: MODEL, messages, max_tokens: 20 };
    holds('ChatCompletionRequest', chat);
    const whole = await service.post('/v1/chat/completions', { ...chat, logprobs: true, top_logprobs: 2 });
    holds('ChatCompletion', whole.body);
    holds(
      'ChatCompletion',
      (await service.post('/v1/chat/completions', { ...chat, tools, tool_choice: 'required' })).body,
    );
    const stream = await service.post('/v1/chat/completions', {
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = stream.text.split('\n\n').filter((block) => block.startsWith('data: {'));
    assert.ok(chunks.length > 3);
    for (const chunk of chunks) holds('ChatCompletionChunk', JSON.parse(chunk.slice(6)));
    holds('Completion', (await service.post('/v1/completions', { model: MODEL, prompt: 'a', logprobs: 1 })).body);
    holds('Response', (await service.post('/v1/responses', { model: MODEL, input: 'a', max_output_tokens: 16 })).body);
    holds('Embeddings', (await service.post('/v1/embeddings', { model: MODEL, input: 'a' })).body);
    holds('Model', (await service.get(`/v1/models/${MODEL}`)).body);
    holds('Receipt', (await service.get(`/v1/receipts/${whole.headers.get('x-receipt-id')}`)).body);
    holds('Error', (await service.post('/v1/chat/completions', {})).body);
  });
});
