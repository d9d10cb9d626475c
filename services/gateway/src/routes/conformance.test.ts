// The contract apart from chat completions: its description, answers, and the code and field of each error.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { casesOf, exchange } from '../../../../tests/support/index.ts';
import { type Answer, type Json, MODEL } from '../test/harness.ts';
import { assertRefusal, chunksOf, get, MESSAGES, post, type Refused, sharedGateway } from '../test/shared.ts';
import { routes } from './index.ts';
import { gatewayOpenApi } from './openapi.ts';

const CHAT = '/v1/chat/completions';
const LONG = 'word '.repeat(500);
const chat = { model: MODEL, messages: MESSAGES, max_tokens: 1 };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const GZIP = { 'content-encoding': 'gzip' };
const authorized = (authorization: string) => ({ authorization });
const bearer = (key: string) => authorized(`Bearer ${key}`);

const basic = async () => get('/v1/models', authorized(`Basic ${(await sharedGateway()).key}`));
const ofTransport: Readonly<Record<string, readonly [ask: () => Promise<Answer>, ...Refused]>> = {
  'no key': [() => post(CHAT, chat, { authorization: '' }), 401, 'invalid_api_key', null],
  'an unknown key': [() => get('/v1/models', bearer('sk-nope')), 401, 'invalid_api_key', null],
  'another scheme': [basic, 401, 'invalid_api_key', null],
  'an unknown path': [() => get('/v1/images'), 404, 'not_found', null],
  'a missing file of the pages': [() => get('/assets/none.js'), 404, 'not_found', null],
  'a URL above 8 KiB': [() => get(`/health?${'x'.repeat(8_192)}`), 414, 'uri_too_long', null],
  'a method that the page does not have': [() => post('/', {}), 405, 'method_not_allowed', null],
  'an unknown model': [() => get('/v1/models/a%2Fb'), 404, 'model_not_found', 'model'],
  'another media type': [() => post(CHAT, 'a=1', FORM), 415, 'unsupported_media_type', null],
  'too large a body': [() => post(CHAT, `{"a":"${'x'.repeat(17 * 2 ** 20)}"}`), 413, 'request_too_large', null],
  'a compressed body': [() => post(CHAT, '{}', GZIP), 415, 'unsupported_media_type', null],
  'a path that cannot be decoded': [() => get('/v1/models/%zz'), 400, null, null],
};

/** Of `responses` by its index in `input`, although `instructions` become a message before it. */
const refused: readonly (readonly [endpoint: string, body: object, code: string, param: string])[] = [
  ...casesOf<[string, object, string, string][]>('gateway', 'refused bodies'),
  ...['responses', 'embeddings'].map((at) => [at, { input: LONG }, 'context_length_exceeded', 'input'] as const),
];

describe('requests other than chat completions', () => {
  for (const [name, [ask, ...expected]] of Object.entries(ofTransport))
    it(`are rejected with ${name}`, async () => assertRefusal(await ask(), expected));

  for (const [endpoint, body, code, param] of refused)
    it(`to ${endpoint} are rejected with ${code} of ${param}: ${JSON.stringify(body).slice(0, 80)}`, async () =>
      assertRefusal(await post(`/v1/${endpoint}`, { model: MODEL, ...body }), [400, code, param]));

  it('are rejected without a valid key, by messages that do not repeat the key', async () => {
    const messages = new Set<string>();
    for (let i = 0; i < 20; i += 1) {
      const chosen = `chosen-${i}-by-me`;
      for (const answer of [
        await get(`/${chosen}`, { authorization: '' }),
        await get(`/v1/models/${chosen}`, bearer(`sk-${chosen}`)),
        await post(`/health?${chosen}`, {}, { authorization: '' }),
        await get(`/ledger/receipts/${chosen}`, { authorization: '' }),
        await get('/health', { origin: `https://${chosen}.example` }),
      ]) {
        assert.ok(answer.status >= 400 && !answer.text.includes(chosen), answer.text);
        messages.add(answer.text);
      }
    }
    assert.equal(messages.size, 5, [...messages].join('\n'));
  });

  it('are answered: health without a key, a preflight, a model, embeddings of tokens', async () => {
    assert.deepEqual((await get('/health', { authorization: '' })).body.models, [MODEL]);
    assert.equal((await get('/ready')).status, 200);
    const { headersTimeout, requestTimeout } = (await sharedGateway()).running.gateway.server.fastify.server;
    assert.deepEqual([headersTimeout, requestTimeout], [10_000, 60_000], 'of a long prompt over a slow connection');
    const preflight = await fetch(`${(await sharedGateway()).base}/elsewhere`, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /authorization/);
    const { body } = await get(`/v1/models/${MODEL}`);
    assert.deepEqual([body.id, body.object, body.context_length], [MODEL, 'model', 256]);
    const tokens = await post('/v1/embeddings', { model: MODEL, input: [[5, 6], [7]] });
    assert.deepEqual([tokens.status, tokens.body.data.length, tokens.body.usage.prompt_tokens], [200, 2, 3]);
  });

  it('are counted for a limited key, and rejected above the limit per minute', async ({ mock }) => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const { running } = await sharedGateway();
    const { key } = await running.gateway.keys.create({ tier: 'free' });
    for (let left = 19; left >= 0; left -= 1) {
      const { status, headers } = await post(CHAT, chat, bearer(key));
      assert.deepEqual([status, headers.get('x-ratelimit-remaining-requests')], [200, String(left)]);
      for (const name of ['limit', 'remaining']) assert.match(headers.get(`x-ratelimit-${name}-tokens`) ?? '', /^\d+$/);
    }
    const { status, body, headers } = await post(CHAT, chat, bearer(key));
    const facts = [status, body.error.type, body.error.code, headers.get('x-should-retry')];
    assert.deepEqual(facts, [429, 'rate_limit_error', 'rate_limit_exceeded', 'true']);
    assert.ok(Number(headers.get('retry-after')) > 0);
    assert.match(headers.get('x-ratelimit-reset-requests') ?? '', /^(\d+m)?\d+s$/);
    assert.equal((await get('/v1/models', bearer(key))).status, 200, 'GET requests are not counted');
  });
});

const document = JSON.parse(JSON.stringify(gatewayOpenApi()));

it('openapi/gateway.json matches the code', () => {
  const file = path.join(import.meta.dirname, '../../../../openapi/gateway.json');
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), document, 'npm run openapi');
});

it('openapi/gateway.json lists every route below /v1, and is served', async () => {
  const paths = [...new Set(routes.map(({ contract }) => contract.path.replace('*}', '}')))];
  const described = Object.keys(document.paths).filter((route) => route.startsWith('/v1/'));
  assert.deepEqual(paths.filter((route) => route.startsWith('/v1/')).sort(), described.sort());
  assert.deepEqual((await get('/openapi.json')).body, document);
});

it('openapi/gateway.json describes real answers', async () => {
  const ajv = new Ajv2020({ strict: false }).addSchema(document, 'api');
  const holds = (name: string, body: Json) => {
    const isValid = ajv.validate(`api#/components/schemas/${name}`, body);
    assert.ok(isValid, `${name}: ${ajv.errorsText()} ${JSON.stringify(body)}`);
  };
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
  const asked = { ...chat, max_tokens: 20 };
  const bodyOf = async (endpoint: string, body: object) => (await post(`/v1/${endpoint}`, body)).body;
  holds('ChatCompletionRequest', asked);
  const full = await post(CHAT, { ...asked, logprobs: true, top_logprobs: 2 });
  holds('ChatCompletion', full.body);
  holds('ChatCompletion', await bodyOf('chat/completions', { ...asked, tools, tool_choice: 'required' }));
  const chunks = chunksOf(await post(CHAT, { ...asked, stream: true, stream_options: { include_usage: true } }));
  assert.ok(chunks.length > 3);
  for (const chunk of chunks) holds('ChatCompletionChunk', chunk);
  holds('Completion', await bodyOf('completions', { model: MODEL, prompt: 'a', logprobs: 1 }));
  holds('Response', await bodyOf('responses', { model: MODEL, input: 'a', max_output_tokens: 16 }));
  holds('Embeddings', await bodyOf('embeddings', { model: MODEL, input: 'a' }));
  holds('Model', (await get(`/v1/models/${MODEL}`)).body);
  holds('Receipt', (await get(`/v1/receipts/${full.headers.get('x-receipt-id')}`)).body);
  holds('Error', await bodyOf('chat/completions', {}));
});

const isBuilt = existsSync(path.join(import.meta.dirname, '../../../../web/dist/chat.html'));

// Their security headers are proved in packages/http/src/site.test.ts.
for (const page of ['/', '/machines'])
  it(`the inference service serves ${page}, or reports that it is not built`, async () => {
    const { status, headers, text } = await get(page);
    assert.equal(status, isBuilt ? 200 : 503);
    assert.match(headers.get('content-type') ?? '', /^text\/html\b/);
    for (const [, url = ''] of text.matchAll(/<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"/g)) {
      assert.match(url, /^\//);
      assert.equal((await get(url)).status, 200, url);
    }
  });

const raw = async (request: string) => exchange((await sharedGateway()).running.port, request);

it('a gateway on sockets requires a key for every spelling of the path', async () => {
  const body = JSON.stringify(chat);
  const type = `content-type: application/json\r\ncontent-length: ${body.length}`;
  for (const target of [CHAT, '/%761/chat/completions', `${(await sharedGateway()).base}${CHAT}`]) {
    const asked = `POST ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${type}\r\n\r\n${body}`;
    assert.match(await raw(asked), /^HTTP\/1\.1 401 /, target);
  }
});

it('a gateway on sockets answers invalid or too large HTTP requests in the error format of the contract', async () => {
  const answer = /^HTTP\/1\.1 400 .*\r\n\r\n\{"error":\{"message":"[^"]+","type":"invalid_request_error"/s;
  assert.match(await raw('GARBAGE\r\n\r\n'), answer);
  const large = await raw(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
  assert.match(large, /^HTTP\/1\.1 431 /);
});
