// Models from a seed, of each kind of weights: loaded, asked, continued.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GREEDY } from '@strata/inference';
import { type RandomModelOptions, randomModel } from '@strata/testnet';
import { type Engine, type Job, startLlamaEngine } from './index.ts';

const shape: RandomModelOptions = {
  seed: 1,
  name: 'noise',
  layers: 2,
  width: 64,
  heads: 4,
  hidden: 128,
  context: 512,
  weights: 'F16',
};
let directory: string;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-models-'));
});
after(() => rm(directory, { recursive: true, force: true }));

async function load(options: RandomModelOptions): Promise<Engine> {
  const file = path.join(directory, `${options.name}-${options.seed}-${options.weights}.gguf`);
  await writeFile(file, randomModel(options));
  return startLlamaEngine({ file, slots: 2, threads: 1, gpu: false });
}

async function tokensOf(engine: Engine, job: Job): Promise<number[]> {
  const tokens = [];
  for await (const event of engine.generate(job, new AbortController().signal))
    if (event.kind === 'token') tokens.push(event.token);
  return tokens;
}

describe('a model from a seed', () => {
  it('is the same file again by the same seed, and another by another', () => {
    const [a, b, c] = [randomModel(shape), randomModel(shape), randomModel({ ...shape, seed: 2 })];
    assert.deepEqual(a, b);
    assert.ok(a.length === c.length && Buffer.compare(a, c) !== 0);
    assert.ok(randomModel({ ...shape, weights: 'Q8_0' }).length < a.length * 0.6);
  });

  for (const weights of ['F16', 'Q8_0', 'Q4_0'] as const) {
    it(`is read by llama.cpp with weights of ${weights}, and its answers go on exactly`, async () => {
      await using engine = await load({ ...shape, weights });
      const { name, quantisation, contextLength, vocabularySize, hasChatTemplate } = engine.info;
      assert.deepEqual(
        { name, quantisation, contextLength, vocabularySize, hasChatTemplate },
        { name: 'noise', quantisation: weights, contextLength: 512, vocabularySize: 259, hasChatTemplate: true },
      );
      assert.deepEqual(await engine.tokenize('hi ü'), [...Buffer.from('hi ü')]);
      const prompt = await engine.render({ messages: [{ role: 'user', content: 'Say something.' }], tools: [] });
      // Its last word, which noise may say at any time, is forbidden.
      const endless = { ...GREEDY, logitBias: new Map([[258, -100]]) };
      for (const sampling of [endless, { ...endless, temperature: 1, seed: 5 }]) {
        const job: Job = { prompt, given: [], replay: 'exact', maxTokens: 60, sampling };
        const whole = await tokensOf(engine, job);
        assert.equal(whole.length, 60);
        for (const cut of [1, 9, 30]) {
          assert.deepEqual(await tokensOf(engine, { ...job, given: whole.slice(0, cut) }), whole.slice(cut));
        }
      }
    });
  }

  it('answers otherwise than one of another seed', async () => {
    await using one = await load(shape);
    await using other = await load({ ...shape, seed: 2 });
    const prompt = await one.render({ messages: [{ role: 'user', content: 'Say something.' }], tools: [] });
    const job: Job = { prompt, given: [], replay: 'exact', maxTokens: 20, sampling: GREEDY };
    assert.notDeepEqual(await tokensOf(one, job), await tokensOf(other, job));
    assert.notEqual(one.info.sha256, other.info.sha256);
  });
});
