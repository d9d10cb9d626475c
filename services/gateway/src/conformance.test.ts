// The contract apart from chat completions: what is asked, and the status, code and field of each refusal.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Answer, type Harness, MODEL } from './test/harness.ts';
import { assertRefusal, MESSAGES, sharedGateway } from './test/shared.ts';

const CHAT = '/v1/chat/completions';
const LONG = 'word '.repeat(500);
const IMAGE = [{ type: 'input_image' }];
const chat = { model: MODEL, messages: MESSAGES, max_tokens: 1 };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const GZIP = { 'content-encoding': 'gzip' };
const authorized = (authorization: string) => ({ authorization });
const bearer = (key: string) => authorized(`Bearer ${key}`);
let service: Harness;

type Refused = readonly [number, string | null, string | null];
const ofTransport: Readonly<Record<string, readonly [ask: () => Promise<Answer>, ...Refused]>> = {
  'no key': [() => service.post(CHAT, chat, { authorization: '' }), 401, 'invalid_api_key', null],
  'an unknown key': [() => service.get('/v1/models', bearer('sk-nope')), 401, 'invalid_api_key', null],
  'another scheme': [() => service.get('/v1/models', authorized(`Basic ${service.key}`)), 401, 'invalid_api_key', null],
  'an unknown path': [() => service.get('/v1/images'), 404, 'not_found', null],
  'a path of no service': [() => service.get('/admin'), 404, 'not_found', null],
  'a method that is not served': [() => service.get(CHAT), 405, 'method_not_allowed', null],
  'an unknown model': [() => service.get('/v1/models/a%2Fb'), 404, 'model_not_found', 'model'],
  'another media type': [() => service.post(CHAT, 'a=1', FORM), 415, 'unsupported_media_type', null],
  'too large a body': [() => service.post(CHAT, `{"a":"${'x'.repeat(17 * 2 ** 20)}"}`), 413, 'request_too_large', null],
  'a compressed body': [() => service.post(CHAT, '{}', GZIP), 415, 'unsupported_media_type', null],
  'a path that cannot be decoded': [() => service.get('/v1/models/%zz'), 400, null, null],
};

/** Each is refused with 400, by its code and field. */
const refused: readonly (readonly [endpoint: string, body: object, code: string, param: string])[] = [
  ['completions', {}, 'missing_required_parameter', 'prompt'],
  ['completions', { prompt: '' }, 'invalid_value', 'prompt'],
  ['completions', { prompt: Array.from({ length: 64 }, () => 'a'), n: 3 }, 'invalid_value', 'prompt'],
  ['completions', { prompt: [[5], [5_000_000]] }, 'invalid_value', 'prompt[1]'],
  ['completions', { prompt: 'a', suffix: 'b' }, 'unsupported_value', 'suffix'],
  ['completions', { prompt: 'a', echo: true, logprobs: 1 }, 'unsupported_value', 'logprobs'],
  ['completions', { prompt: 'a', best_of: 3 }, 'unsupported_value', 'best_of'],
  // By its index in `input`, although `instructions` become a message before it.
  ['responses', { instructions: 'a', input: [MESSAGES[0], { role: 'wizard' }] }, 'invalid_value', 'input[1].role'],
  ['responses', { input: 'a', tools: [{ type: 'function', name: 'no way' }] }, 'invalid_value', 'tools[0].name'],
  ['responses', { input: LONG }, 'context_length_exceeded', 'input'],
  ['responses', { input: 'x', previous_response_id: 'resp_1' }, 'unsupported_value', 'previous_response_id'],
  ['responses', { input: 'x', max_output_tokens: 0 }, 'invalid_value', 'max_output_tokens'],
  ['responses', { input: [{ role: 'user', content: IMAGE }] }, 'unsupported_value', 'input[0].content[0].type'],
  ['embeddings', {}, 'missing_required_parameter', 'input'],
  ['embeddings', { input: '' }, 'invalid_value', 'input'],
  ['embeddings', { input: [] }, 'invalid_value', 'input'],
  ['embeddings', { input: [5_000_000] }, 'invalid_value', 'input'],
  ['embeddings', { input: LONG }, 'context_length_exceeded', 'input'],
  ['embeddings', { input: 'a', dimensions: 7 }, 'unsupported_value', 'dimensions'],
  ['embeddings', { input: 'a', encoding_format: 'hex' }, 'invalid_value', 'encoding_format'],
];

describe('requests other than chat completions', () => {
  before(async () => {
    service = await sharedGateway();
  });

  for (const [name, [ask, ...expected]] of Object.entries(ofTransport))
    it(`are refused with ${name}`, async () => assertRefusal(await ask(), expected));

  for (const [endpoint, body, code, param] of refused)
    it(`to ${endpoint} are refused with ${code} of ${param}: ${JSON.stringify(body).slice(0, 80)}`, async () =>
      assertRefusal(await service.post(`/v1/${endpoint}`, { model: MODEL, ...body }), [400, code, param]));

  it('are answered: health without a key, a preflight, a model, vectors of tokens', async () => {
    assert.deepEqual((await service.get('/health', { authorization: '' })).body.models, [MODEL]);
    assert.equal((await service.get('/ready')).status, 200);
    const preflight = await fetch(service.base + CHAT, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /authorization/);
    const { body } = await service.get(`/v1/models/${MODEL}`);
    assert.deepEqual([body.id, body.object, body.context_length], [MODEL, 'model', 256]);
    const tokens = await service.post('/v1/embeddings', { model: MODEL, input: [[5, 6], [7]] });
    assert.deepEqual([tokens.status, tokens.body.data.length, tokens.body.usage.prompt_tokens], [200, 2, 3]);
  });

  it('are counted for a limited key, and refused beyond the limit of its minute', async () => {
    const { key } = await service.running.gateway.keys.create({ tier: 'free' });
    for (let left = 19; left >= 0; left -= 1) {
      const { status, headers } = await service.post(CHAT, chat, bearer(key));
      assert.deepEqual([status, headers.get('x-ratelimit-remaining-requests')], [200, String(left)]);
      for (const name of ['limit', 'remaining']) assert.match(headers.get(`x-ratelimit-${name}-tokens`) ?? '', /^\d+$/);
    }
    const { status, body, headers } = await service.post(CHAT, chat, bearer(key));
    const facts = [status, body.error.type, body.error.code, headers.get('x-should-retry')];
    assert.deepEqual(facts, [429, 'rate_limit_error', 'rate_limit_exceeded', 'true']);
    assert.ok(Number(headers.get('retry-after')) > 0);
    assert.match(headers.get('x-ratelimit-reset-requests') ?? '', /^(\d+m)?\d+s$/);
    assert.equal((await service.get('/v1/models', bearer(key))).status, 200, 'GET requests are not counted');
  });
});
