// The contract apart from chat completions: what is asked, and the status, code and field of each refusal.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Answer, type Harness, MODEL } from './test/harness.ts';
import { assertRefusal, MESSAGES, sharedGateway } from './test/shared.ts';

const CHAT = '/v1/chat/completions';
const LONG = 'word '.repeat(500);
const chat = { model: MODEL, messages: MESSAGES, max_tokens: 1 };
let service: Harness;

type Refused = readonly [number, string | null, string | null];
const ofTransport: Readonly<Record<string, readonly [ask: () => Promise<Answer>, ...Refused]>> = {
  'no key': [() => service.post(CHAT, chat, { authorization: '' }), 401, 'invalid_api_key', null],
  'an unknown key': [() => service.get('/v1/models', bearer('sk-nope')), 401, 'invalid_api_key', null],
  'another scheme': [
    () => service.get('/v1/models', { authorization: `Basic ${service.key}` }),
    ...([401, 'invalid_api_key', null] as const),
  ],
  'an unknown path': [() => service.get('/v1/images'), 404, 'not_found', null],
  'a path of no service': [() => service.get('/admin'), 404, 'not_found', null],
  'a method that is not served': [() => service.get(CHAT), 405, 'method_not_allowed', null],
  'an unknown model': [() => service.get('/v1/models/a%2Fb'), 404, 'model_not_found', 'model'],
  'another media type': [
    () => service.post(CHAT, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    ...([415, 'unsupported_media_type', null] as const),
  ],
  'too large a body': [() => service.post(CHAT, `{"a":"${'x'.repeat(17 * 2 ** 20)}"}`), 413, 'request_too_large', null],
  'a compressed body': [
    () => service.post(CHAT, '{}', { 'content-encoding': 'gzip' }),
    ...([415, 'unsupported_media_type', null] as const),
  ],
  'a path that cannot be decoded': [() => service.get('/v1/models/%zz'), 400, null, null],
};
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

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
  [
    'responses',
    { instructions: 'Be brief.', input: [MESSAGES[0], { role: 'wizard', content: 'b' }] },
    ...(['invalid_value', 'input[1].role'] as const),
  ],
  ['responses', { input: 'a', tools: [{ type: 'function', name: 'no way' }] }, 'invalid_value', 'tools[0].name'],
  ['responses', { input: LONG }, 'context_length_exceeded', 'input'],
  ['responses', { input: 'x', previous_response_id: 'resp_1' }, 'unsupported_value', 'previous_response_id'],
  ['responses', { input: 'x', max_output_tokens: 0 }, 'invalid_value', 'max_output_tokens'],
  [
    'responses',
    { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
    ...(['unsupported_value', 'input[0].content[0].type'] as const),
  ],
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
    const health = await service.get('/health', { authorization: '' });
    assert.deepEqual(health.body.models, [MODEL]);
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
    const answers: Answer[] = [];
    for (let i = 0; i < 21; i += 1) answers.push(await service.post(CHAT, chat, bearer(key)));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 200), 429]);
    const [first, last] = [answers[0]?.headers, answers[20]?.headers];
    assert.equal(first?.get('x-ratelimit-remaining-requests'), '19');
    for (const name of ['limit', 'remaining']) assert.match(first?.get(`x-ratelimit-${name}-tokens`) ?? '', /^\d+$/);
    const { error } = answers.at(-1)?.body ?? assert.fail();
    assert.deepEqual([error.type, error.code], ['rate_limit_error', 'rate_limit_exceeded']);
    assert.equal(last?.get('x-should-retry'), 'true');
    assert.ok(Number(last?.get('retry-after')) > 0);
    assert.match(last?.get('x-ratelimit-reset-requests') ?? '', /^(\d+m)?\d+s$/);
    assert.equal((await service.get('/v1/models', bearer(key))).status, 200, 'GET requests are not counted');
  });
});
