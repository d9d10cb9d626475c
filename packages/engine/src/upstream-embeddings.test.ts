import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODEL, refuses } from './test/scripted-upstream.ts';
import { failedAs, useUpstream } from './test/upstream-harness.ts';

describe('vectors of an upstream', () => {
  const world = useUpstream();
  const { signal } = new AbortController();
  const vector = (index: number, ...embedding: unknown[]) => ({ index, embedding });
  const gives = (data: unknown) =>
    refuses(200, { object: 'list', data, usage: { prompt_tokens: 5 } }, { 'content-type': 'application/json' });

  it('are in the order of their inputs, and of length 1', async () => {
    world.server.script(gives([vector(1, 0, 2), vector(0, 3, 4)]));
    const { vectors, promptTokens } = await (await world.open()).embed(['a', 'b'], signal);
    assert.deepEqual(vectors, [Float32Array.of(0.6, 0.8), Float32Array.of(0, 1)]);
    assert.equal(promptTokens, 5);
    assert.deepEqual(world.server.asked[0]?.body, { model: MODEL, input: ['a', 'b'], encoding_format: 'float' });
  });

  it('are requested in batches', async () => {
    world.server.script((response, { body }) => {
      const data = (body.input as number[][]).map(([token = 0], index) => vector(index, 1, token));
      response.end(JSON.stringify({ data, usage: { prompt_tokens: data.length } }));
    });
    const inputs = Array.from({ length: 130 }, (_, at) => [at]);
    const { vectors, promptTokens } = await (await world.open()).embed(inputs, signal);
    assert.deepEqual([vectors.length, promptTokens], [130, 130]);
    for (const [at, [x = 0, y = 0] = []] of vectors.entries()) assert.ok(Math.abs(y / x - at) < 0.01, `${at}`);
    const sizes = world.server.asked.map(({ body }) => body.input.length);
    assert.deepEqual(sizes, [64, 64, 2]);
  });

  it('that are missing or invalid are an error', async () => {
    const upstream = await world.open();
    const valid = vector(1, 1);
    for (const data of [[], [valid], [vector(0), valid], [vector(0, '1'), valid], [vector(0, 1, 2), valid]]) {
      world.server.script(gives(data));
      await assert.rejects(upstream.embed(['a', 'b'], signal), failedAs('upstream-failed', /vectors/));
    }
    world.server.script(refuses(200, 'nonsense'));
    await assert.rejects(upstream.embed(['a'], signal), failedAs('upstream-failed', /no JSON/));
  });
});
