// Random bodies for every endpoint: each is rejected or answered, none causes an internal error, and none keeps a slot occupied.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Json, MODEL } from './harness.ts';
import { MESSAGES, post, sharedGateway } from './shared.ts';

const user = { role: 'user', content: [{ type: 'text', text: 'What is DMARC?' }] };
const parameters = { type: 'object', properties: { a: { type: 'string' } } };
const valid = {
  model: MODEL,
  messages: [{ role: 'system', content: 'Be brief.' }, user],
  ...{ max_tokens: 2, temperature: 0.5, stop: ['x'], logit_bias: { 5: 1 }, tool_choice: 'auto', stream: false },
  tools: [{ type: 'function', function: { name: 'f', parameters } }],
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
};
const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', -1, 0, 1e308, 2 ** 53, 0.1, [], {}),
  fc.constantFrom('\u0000', '<|im_end|>', '\ud800', '__proto__', 'a'.repeat(5_000)),
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>,
  fc.constant(Array.from({ length: 300 }, () => ({ type: 'text', text: 'x' }))),
  fc.constant(JSON.parse('['.repeat(200) + ']'.repeat(200)) as unknown),
  fc.constant(JSON.parse('{"__proto__":{"model":"x"},"constructor":1}') as unknown),
);

/** The valid body with one value replaced. */
function mutated(path: readonly number[], value: unknown): unknown {
  const body = structuredClone(valid) as Json;
  let at = body;
  for (const step of path) {
    const name = Object.keys(at)[step % Object.keys(at).length] as string;
    if (typeof at[name] !== 'object' || step === path.at(-1)) {
      at[name] = value;
      return body;
    }
    at = at[name];
  }
  return value;
}

export const describeHostileBodies = (numRuns: number) =>
  describe('hostile bodies', () => {
    for (const url of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses'])
      it(`to ${url} are rejected or answered`, async () => {
        const { running, key } = await sharedGateway();
        const { fastify } = running.gateway.server;
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        let refused = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 6 }), junk, fc.boolean(), async (path, value, isRaw) => {
            const payload = JSON.stringify(isRaw ? value : mutated(path, value)) ?? '';
            const { statusCode, body } = await fastify.inject({ method: 'POST', url, headers, payload });
            if (statusCode === 400) refused += 1;
            assert.ok([200, 400, 404].includes(statusCode), `${statusCode} ${body} for ${payload.slice(0, 500)}`);
            if (statusCode !== 200) assert.equal(typeof JSON.parse(body).error.message, 'string');
          }),
          { numRuns, seed: 20_261_121, endOnFailure: true },
        );
        assert.ok(refused > numRuns / 4, `${refused} of ${numRuns} were refused`);
      });

    it('leave no slots occupied', async () => {
      const { body } = await post('/v1/chat/completions', { model: MODEL, messages: MESSAGES, temperature: 0 });
      assert.match(body.choices[0].message.content, /^DMARC tells/);
      const { busy } = (await sharedGateway()).running.gateway.models;
      assert.deepEqual([busy, ({} as Json).model], [0, undefined]);
    });
  });
