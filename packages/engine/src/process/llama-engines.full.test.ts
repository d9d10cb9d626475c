// Several processes as one engine, and models of other weights.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RandomModelOptions, randomModel } from '@strata/testnet';
import { oneSlot } from '../../../../tests/support/tiny-engine.ts';
import { type Engine, type Job, startLlamaEngine } from '../index.ts';
import { written } from '../test/gguf-file.ts';
import { ENDLESS, jobFor, never, run, user } from '../test/tiny-engine.ts';

const questions = ['What is DMARC?', 'What does SPF do?', 'What is an MX record?', 'Who are you?', 'What is a CDN?'];

it('several processes as one engine have the slots of all, answer as one does, and give a prompt to the process that has read it', async () => {
  await using pool = await startLlamaEngine({ ...oneSlot, slots: 4, processes: 2 });
  assert.equal(pool.info.slots, 4);
  const jobs = await Promise.all(questions.map((question) => jobFor(question, { maxTokens: 60 })));
  const texts = async (engine?: Engine) => Promise.all(jobs.map(async (job) => (await run(job, engine)).text));
  const together = await texts(pool);
  // One more than the pool has slots, and three more than the single process has.
  assert.deepEqual(await texts(), together);
  const alone = [];
  for (const job of jobs) alone.push((await run(job)).text);
  assert.deepEqual(together, alone);
  assert.equal(new Set(alone).size, questions.length);
  // A prompt goes to the process that has read it.
  const fitting = jobs.slice(0, 4);
  for (const job of fitting) await run(job, pool);
  for (const job of fitting) assert.equal((await run(job, pool)).cachedTokens, job.prompt.length - 1);
});

const size = { layers: 2, width: 64, heads: 4, hidden: 128, context: 512 };
const shape: RandomModelOptions = { seed: 1, name: 'noise', weights: 'F16', ...size };

describe('a model from a seed', () => {
  it('whose heads are too small for the types of the cache is refused', async () => {
    const attention = { flash: 'auto', keys: 'f16', values: 'q8_0' } as const;
    const starting = startLlamaEngine({ ...oneSlot, file: await written(randomModel(shape)), attention });
    await assert.rejects(starting, { code: 'model-unusable', message: /cache of these types/ });
  });

  it('is the same file again by the same seed, and another by another', () => {
    const [a, b, c] = [randomModel(shape), randomModel(shape), randomModel({ ...shape, seed: 2 })];
    assert.deepEqual(a, b);
    assert.ok(a.length === c.length && Buffer.compare(a, c) !== 0);
    assert.ok(randomModel({ ...shape, weights: 'Q8_0' }).length < a.length * 0.6);
  });

  for (const [weights, cache] of [
    ['F16', 'f16'],
    ['Q8_0', 'q8_0'],
    ['Q4_0', 'q4_0'],
  ] as const)
    it(`is read by llama.cpp with weights of ${weights} and a cache of ${cache}, and its answers continue exactly`, async () => {
      // Types other than f16 need heads of at least 32.
      const file = await written(randomModel({ ...shape, heads: 2, weights }));
      const attention = { flash: 'auto', keys: cache, values: cache } as const;
      await using engine = await startLlamaEngine({ ...oneSlot, file, attention });
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

it('vectors are pooled as the metadata say, the same alone and concurrently over processes, and of a reranker its score', async () => {
  const input = Array.from({ length: 300 }, (_, i) => (i * 37 + 11) % 256);
  const prefixes = input.map((_, i) => input.slice(0, i + 1));
  const vectorsOf = async (pooling: RandomModelOptions['pooling'], inputs: readonly (readonly number[])[]) => {
    const file = await written(randomModel(pooling === undefined ? shape : { ...shape, pooling }));
    await using engine = await startLlamaEngine({ ...oneSlot, file, slots: 2, processes: 2 });
    const vectors = await Promise.all(inputs.map(async (tokens) => [...(await engine.embed(tokens, never))]));
    const alone = [...(await engine.embed(inputs.at(-1) ?? [], never))];
    if (pooling !== 'rank') for (const each of [...vectors, alone]) near(each, each);
    near(scaled(alone), scaled(vectors.at(-1) ?? []));
    await assert.rejects(engine.embed(new Array(512).fill(3), never), { code: 'job-too-long' });
    return vectors;
  };
  const product = (a: Vector, b: Vector) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  const near = (a: Vector, b: Vector) => assert.ok(Math.abs(product(a, b) - 1) < 1e-4, String(product(a, b)));
  const scaled = (a: Vector) => a.map((value) => value / Math.sqrt(product(a, a)));
  // The model's last norm gives the vectors of all its tokens one length.
  const ofTokens = await vectorsOf(undefined, prefixes);
  const [first = [], last = []] = [ofTokens[0], ofTokens.at(-1)];
  assert.ok(product(first, last) < 0.9);
  const sum = first.map((_, i) => ofTokens.reduce((total, vector) => total + (vector[i] ?? 0), 0));
  for (const [pooling, expected] of [
    ['none', last],
    ['last', last],
    ['cls', first],
    ['mean', scaled(sum)],
  ] as const)
    near(expected, (await vectorsOf(pooling, [input]))[0] ?? []);
  const [scores = []] = await vectorsOf('rank', [input]);
  assert.ok(scores.length === 1 && Math.abs(Math.abs(scores[0] ?? 1) - 1) > 1e-3);
});

type Vector = readonly number[];
