// Bodies that nobody should send: none is a failure of ours, and none leaves anything behind.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
before(async () => {
  service = await startHarness();
});
after(() => service?.[Symbol.asyncDispose]());

/** Many more with STRATA_FUZZ_RUNS. */
const RUNS = Number(process.env.STRATA_FUZZ_RUNS ?? 3_000);

const valid = {
  model: MODEL,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is DMARC?' }] },
  ],
  max_tokens: 2,
  temperature: 0.5,
  stop: ['x'],
  logit_bias: { 5: 1 },
  tools: [
    {
      type: 'function',
      function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'string' } } } },
    },
  ],
  tool_choice: 'auto',
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
  stream: false,
};
const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    -1,
    0,
    1e308,
    2 ** 53,
    0.1,
    [],
    {},
    '\u0000',
    '<|im_end|>',
    '\ud800',
    '__proto__',
    'a'.repeat(5_000),
  ),
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>,
  fc.constant(Array.from({ length: 300 }, () => ({ type: 'text', text: 'x' }))),
  fc.constant(JSON.parse('['.repeat(200) + ']'.repeat(200)) as unknown),
  fc.constant(JSON.parse('{"__proto__":{"model":"x"},"constructor":1}') as unknown),
);

/** The valid body with something else at one place. */
function mutated(path: readonly number[], value: unknown): unknown {
  const body = structuredClone(valid) as Json;
  let at = body;
  for (const step of path) {
    const names = Object.keys(at);
    const name = names[step % names.length] as string;
    if (typeof at[name] !== 'object' || step === path.at(-1)) {
      at[name] = value;
      return body;
    }
    at = at[name];
  }
  return value;
}

describe('hostile bodies', () => {
  for (const target of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses']) {
    it(`to ${target} are refused or answered, and never fail`, async () => {
      const { fastify } = service.running.gateway.server;
      const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
      const seen = new Map<number, number>();
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 6 }), junk, fc.boolean(), async (path, value, isRaw) => {
          const body = isRaw ? value : mutated(path, value);
          const payload = JSON.stringify(body) ?? '';
          const { statusCode, body: text } = await fastify.inject({ method: 'POST', url: target, headers, payload });
          seen.set(statusCode, (seen.get(statusCode) ?? 0) + 1);
          assert.ok([200, 400, 404].includes(statusCode), `${statusCode} ${text} for ${payload.slice(0, 500)}`);
          if (statusCode !== 200) assert.equal(typeof JSON.parse(text).error.message, 'string');
        }),
        { numRuns: RUNS, seed: 20_261_121, endOnFailure: true },
      );
      assert.ok((seen.get(400) ?? 0) > RUNS / 4, JSON.stringify([...seen]));
    });
  }

  it('leave nothing behind', async () => {
    const answer = await service.post('/v1/chat/completions', {
      model: MODEL,
      messages: [{ role: 'user', content: 'What is DMARC?' }],
      temperature: 0,
    });
    assert.match(answer.body.choices[0].message.content, /^DMARC tells/);
    assert.equal(service.running.gateway.models.busy, 0);
    assert.equal(({} as Json).model, undefined);
  });
});
