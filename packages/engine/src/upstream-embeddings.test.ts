import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODEL, refuses } from './test/scripted-upstream.ts';
import { failedAs, useUpstream } from './test/upstream-harness.ts';

const world = useUpstream();

describe('vectors of an upstream', () => {
  const signal = new AbortController().signal;
  const gives = (data: unknown, usage: unknown = { prompt_tokens: 5, total_tokens: 5 }) =>
    refuses(200, { object: 'list', data, usage }, { 'content-type': 'application/json' });

  it('are in the order of their inputs, and of length 1', async () => {
    world.server.script(
      gives([
        { index: 1, embedding: [0, 2] },
        { index: 0, embedding: [3, 4] },
      ]),
    );
    const { vectors, promptTokens } = await (await world.open()).embed(['a', 'b'], signal);
    assert.deepEqual(vectors, [Float32Array.of(0.6, 0.8), Float32Array.of(0, 1)]);
    assert.equal(promptTokens, 5);
    assert.deepEqual(world.server.asked[0]?.body, { model: MODEL, input: ['a', 'b'], encoding_format: 'float' });
  });

  it('are asked for in batches', async () => {
    world.server.script((response, { body }) => {
      const data = (body.input as number[][]).map(([token = 0], index) => ({ index, embedding: [1, token] }));
      response.end(JSON.stringify({ data, usage: { prompt_tokens: data.length } }));
    });
    const inputs = Array.from({ length: 130 }, (_, at) => [at]);
    const { vectors, promptTokens } = await (await world.open()).embed(inputs, signal);
    assert.deepEqual([vectors.length, promptTokens], [130, 130]);
    for (const [at, [x = 0, y = 0] = []] of vectors.entries()) assert.ok(Math.abs(y / x - at) < 0.01, `${at}`);
    assert.deepEqual(
      world.server.asked.map(({ body }) => body.input.length),
      [64, 64, 2],
    );
  });

  it('that are missing or broken are an error', async () => {
    const broken = [
      [],
      [{ index: 0, embedding: [1] }],
      [
        { index: 0, embedding: [] },
        { index: 1, embedding: [1] },
      ],
      [
        { index: 0, embedding: ['1'] },
        { index: 1, embedding: [1] },
      ],
      [
        { index: 0, embedding: [1] },
        { index: 1, embedding: [1, 2] },
      ],
    ];
    for (const data of broken) {
      world.server.script(gives(data));
      await assert.rejects((await world.open()).embed(['a', 'b'], signal), failedAs('upstream-failed', /vectors/));
    }
    world.server.script(refuses(200, 'nonsense'));
    await assert.rejects((await world.open()).embed(['a'], signal), failedAs('upstream-failed', /no JSON/));
  });
});
