// Models from a seed, of each kind of weights: loaded, asked, continued.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RandomModelOptions, randomModel } from '@strata/testnet';
import { type Job, startLlamaEngine } from './index.ts';
import { written } from './test/gguf-file.ts';
import { ENDLESS, oneSlot, run, user } from './test/tiny-engine.ts';

const size = { layers: 2, width: 64, heads: 4, hidden: 128, context: 512 };
const shape: RandomModelOptions = { seed: 1, name: 'noise', weights: 'F16', ...size };

describe('a model from a seed', () => {
  it('is the same file again by the same seed, and another by another', () => {
    const [a, b, c] = [randomModel(shape), randomModel(shape), randomModel({ ...shape, seed: 2 })];
    assert.deepEqual(a, b);
    assert.ok(a.length === c.length && Buffer.compare(a, c) !== 0);
    assert.ok(randomModel({ ...shape, weights: 'Q8_0' }).length < a.length * 0.6);
  });

  for (const weights of ['F16', 'Q8_0', 'Q4_0'] as const)
    it(`is read by llama.cpp with weights of ${weights}, and its answers continue exactly`, async () => {
      const file = await written(randomModel({ ...shape, weights }));
      await using engine = await startLlamaEngine({ ...oneSlot, file });
      const expected = { name: 'noise', quantisation: weights, contextLength: 512, vocabularySize: 259 };
      assert.deepEqual({ ...engine.info, ...expected, hasChatTemplate: true }, engine.info);
      assert.deepEqual(await engine.tokenize('hi ü'), [...Buffer.from('hi ü')]);
      const prompt = await engine.render(user('Say something.'));
      // Its last token, which noise may choose at any time, is forbidden.
      const sampling = { ...ENDLESS, logitBias: new Map([[258, -100]]), temperature: 1, seed: 5 };
      const job: Job = { prompt, given: [], replay: 'exact', maxTokens: 60, sampling };
      const { tokens } = await run(job, engine);
      assert.equal(tokens.length, 60);
      for (const cut of [1, 30])
        assert.deepEqual((await run({ ...job, given: tokens.slice(0, cut) }, engine)).tokens, tokens.slice(cut));
    });
});
