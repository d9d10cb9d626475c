// The description of the API is the committed one, names every route below /v1, and is true of real answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { gatewayOpenApi } from './openapi.ts';
import { type Harness, type Json, MODEL } from './test/harness.ts';
import { MESSAGES as messages, sharedGateway } from './test/shared.ts';

const document = JSON.parse(JSON.stringify(gatewayOpenApi()));

describe('openapi/gateway.json', () => {
  let service: Harness;
  before(async () => {
    service = await sharedGateway();
  });

  it('is what the code says', () => {
    const file = path.join(import.meta.dirname, '../../../openapi/gateway.json');
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), document, 'npm run openapi');
  });

  it('names every route below /v1, and is served', async () => {
    // A tree: below `/`, which has a page, paths are without their first slash, and `*` is below the line before.
    const listed = service.running.gateway.server.fastify.printRoutes({ commonPrefix: false });
    const routes = [...listed.matchAll(/(\S+) \((?:GET, HEAD|POST)\)/g)].map(([, route = '']) => `/${route}`);
    const full = routes.map((route, at) =>
      /^\/+\*$/.test(route) ? `${routes[at - 1]}/{id}` : route.replace(':id', '{id}'),
    );
    const described = Object.keys(document.paths).filter((route) => route.startsWith('/v1/'));
    assert.deepEqual(full.filter((route) => route.startsWith('/v1/')).sort(), described.sort());
    assert.deepEqual((await service.get('/openapi.json')).body, document);
  });

  it('is true of answers', async () => {
    const ajv = new Ajv2020({ strict: false }).addSchema(document, 'api');
    const holds = (name: string, body: Json) => {
      const isValid = ajv.getSchema(`api#/components/schemas/${name}`) ?? assert.fail(name);
      assert.ok(isValid(body), `${name}: ${ajv.errorsText(isValid.errors)} ${JSON.stringify(body)}`);
    };
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
    const chat = { model: MODEL, messages, max_tokens: 20 };
    const post = async (endpoint: string, body: object) => (await service.post(`/v1/${endpoint}`, body)).body;
    holds('ChatCompletionRequest', chat);
    const full = await service.post('/v1/chat/completions', { ...chat, logprobs: true, top_logprobs: 2 });
    holds('ChatCompletion', full.body);
    holds('ChatCompletion', await post('chat/completions', { ...chat, tools, tool_choice: 'required' }));
    const streamed = { ...chat, stream: true, stream_options: { include_usage: true } };
    const { text } = await service.post('/v1/chat/completions', streamed);
    const chunks = text.split('\n\n').filter((block) => block.startsWith('data: {'));
    assert.ok(chunks.length > 3);
    for (const chunk of chunks) holds('ChatCompletionChunk', JSON.parse(chunk.slice(6)));
    holds('Completion', await post('completions', { model: MODEL, prompt: 'a', logprobs: 1 }));
    holds('Response', await post('responses', { model: MODEL, input: 'a', max_output_tokens: 16 }));
    holds('Embeddings', await post('embeddings', { model: MODEL, input: 'a' }));
    holds('Model', (await service.get(`/v1/models/${MODEL}`)).body);
    holds('Receipt', (await service.get(`/v1/receipts/${full.headers.get('x-receipt-id')}`)).body);
    holds('Error', await post('chat/completions', {}));
  });
});
