// Clients of a network engine, and refusals of workers: stopping, aborting, closing, scores and embeddings.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Engine, Job, JobContext, JobSegment } from '@strata/engine';
import { readCompletionRequest } from '@strata/inference';
import { EngineBackend } from '../../answers/engine-backend.ts';
import { at, job, killed, NEVER, PROMPT, truth, until } from '../../test/network/answers.ts';
import { networkOf, UNDISTURBED, type WorkerOptions } from '../../test/network/shared-bed.ts';

const refusing = (code: 'grammar-unusable' | 'unusable'): WorkerOptions => ({
  onFrame(frame, worker) {
    if (frame.kind !== 'request') return false;
    worker.send({ kind: 'failed', id: frame.id, code, message: 'not this' });
    return true;
  },
});
// That all workers refuse is proved in worker-search.test.ts.
for (const code of ['grammar-unusable', 'unusable'] as const)
  it(`a worker that refuses is lost if another worker can serve the request: ${code}`, async () => {
    await using net = await networkOf([refusing(code), refusing(code), {}]);
    net.bed.chooseInOrder();
    assert.deepEqual([await net.answer(), net.lost()], [UNDISTURBED, [`0 ${code}`, `1 ${code}`]]);
  });

it('a worker that refuses a grammar is not believed if another worker used it', async () => {
  const refuses = refusing('grammar-unusable');
  await using net = await networkOf([at(5, killed), refuses, refuses, {}]);
  net.bed.chooseInOrder();
  assert.deepEqual(await net.answer(), UNDISTURBED);
});

async function readSome(engine: Engine, asked: Job, { tokens = 1, ...context }: JobContext & { tokens?: number } = {}) {
  let taken = 0;
  for await (const event of engine.generate(asked, NEVER, context))
    if (event.kind === 'token' && ++taken === tokens) break;
}

it('a client that stops reading cancels its worker, whose receipt is signed', async () => {
  await using net = await networkOf([{ tokensPerSecond: 200 }]);
  const segments: JobSegment[] = [];
  const context = { caller: 'key-1', onSegment: (segment: JobSegment) => segments.push(segment) };
  await readSome(net.engine, job({ maxTokens: 10_000 }), { tokens: 7, ...context });
  assert.equal(segments.map(({ from, to }) => `${from}-${to}`).join(), '0-7', 'at once');
  await net.worker(0).received('settle');
  assert.equal(net.bed.agreed[0]?.receipt.reason, 'cancelled');
  assert.partialDeepStrictEqual(net.trust.answers[0], { reason: 'cancelled', answer: truth(7) });
  assert.deepEqual([net.trust.breaches, net.worker(0).running], [[], 0]);
});
it('a client that stops reading leaves late tokens to be checked before the receipt is signed', async () => {
  await using net = await networkOf([{}]);
  await readSome(net.engine, job({ maxTokens: 100 }));
  await until(() => net.bed.agreed.length === 1);
  const made = net.bed.agreed[0]?.receipt.to ?? 0;
  const parts = net.trust.answers.flatMap(({ from, answer }) => [from, answer]);
  assert.deepEqual([made > 1, ...parts], [true, 0, truth(1), 1, truth(made)]);
});
it('a client that stops reading leaves an unknown late token, which is a breach', async () => {
  const late = at(1, (frame) => [{ ...frame, tokens: frame.tokens.map((token) => ({ ...token, token: 5_000 })) }]);
  await using net = await networkOf([late]);
  await readSome(net.engine, job());
  await until(() => net.trust.breaches.length === 1);
  assert.deepEqual([net.trust.breaches[0]?.reason, net.bed.agreed], ['the model has no token 5000', []]);
});

it('a client may abort: its answer ends immediately, and the worker is cancelled', async () => {
  await using net = await networkOf([{ tokensPerSecond: 2 }]);
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of net.engine.generate(job(), stop.signal)) if (event.kind === 'begin') stop.abort('enough');
  })();
  await assert.rejects(reading, (error) => error === 'enough');
  await net.worker(0).received('cancel');
});

it('a client may abort while there is no worker', async () => {
  await using net = await networkOf([]);
  const answer = Array.fromAsync(net.engine.generate(job(), AbortSignal.timeout(50)));
  await assert.rejects(answer, { name: 'TimeoutError' });
});

it('a client gets an error when the engine is closed', async () => {
  await using net = await networkOf([{ tokensPerSecond: 5 }]);
  const answer = net.answer();
  await until(() => net.bed.session().load.own === 1);
  await Promise.all([assert.rejects(answer, { code: 'crashed' }), net.engine[Symbol.asyncDispose]()]);
  assert.equal(net.engine.isReady, false);
  await assert.rejects(net.answer(), { code: 'crashed' });
});

it('a client gets scores and embeddings from another worker when one is lost, or again from one that failed once', async () => {
  let asked = 0;
  const dying: WorkerOptions = {
    onFrame(frame, worker) {
      if (frame.kind === 'score' || frame.kind === 'embed') worker.kill();
      return true;
    },
  };
  const living: WorkerOptions = {
    onFrame(frame, worker) {
      asked += 1;
      if (frame.kind === 'score') worker.send({ kind: 'scored', id: frame.id, margins: frame.answer.map(() => 0.5) });
      if (frame.kind !== 'embed') return true;
      const failed = { kind: 'failed', id: frame.id, code: 'engine-failed', message: 'once' } as const;
      worker.send(asked === 4 ? failed : { kind: 'embedded', id: frame.id, vector: [0.5, 0.25] });
      return true;
    },
  };
  await using net = await networkOf([dying, living]);
  const scored = { prompt: PROMPT, answer: [1, 2, 3], hasEnd: false, sampling: job().sampling };
  assert.deepEqual(await net.engine.score(scored, NEVER), [0.5, 0.5, 0.5]);
  await net.connect(0, dying);
  const vectors = [];
  for (let i = 0; i < 3; i += 1) vectors.push(await net.engine.embed(PROMPT, NEVER));
  assert.deepEqual(vectors, Array(3).fill(Float32Array.of(0.5, 0.25)));
  assert.deepEqual(net.lost(), ['0 disconnected', '0 disconnected', '1 engine-failed']);
  assert.deepEqual(net.fleet.answered, Array(4).fill(net.bed.peer(1)));
});

it('a client may request more than a frame can hold: the request is reduced or rejected, and no worker is lost', async () => {
  await using net = await networkOf([{ answerTokens: 5 }]);
  const cacheKey = 'secret of a client '.repeat(27);
  const sampling = { ...job().sampling, logitBias: new Map([[9_000_000, 1]]) };
  const { tokens } = await net.answer(job({ maxTokens: 50_000_000, cacheKey, sampling }), { caller: 'key-1' });
  assert.deepEqual(tokens, truth(5));
  const [observed] = net.trust.answers;
  assert.deepEqual([observed?.maxTokens, observed?.sampling.logitBias.size], [1_000_000, 0], 'it can be audited');
  const request = await net.worker(0).received('request');
  assert.equal(request.cacheKey?.length, 64);
  assert.doesNotMatch(request.cacheKey, /secret/);
  const logitBias = new Map(Array.from({ length: 4_000 }, (_, token) => [token, 2e6]));
  const tooMuch = job({ sampling: { ...job().sampling, logitBias } });
  await assert.rejects(net.answer(tooMuch), { code: 'job-too-long' });
  await assert.rejects(net.engine.score({ ...tooMuch, answer: [1], hasEnd: false }, NEVER), { code: 'job-too-long' });
  const asked = readCompletionRequest({ model: 'm', prompt: PROMPT });
  const plan = await new EngineBackend(net.engine).planText({ ...asked, sampling: tooMuch.sampling });
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  const deltas = plan.choices[0]?.deltas({ usage, context: {}, signal: NEVER }) ?? assert.fail();
  await assert.rejects(Array.fromAsync(deltas), { name: 'CompletionError', kind: 'context_length' });
  assert.deepEqual([net.lost(), net.bed.session().load.own], [[], 0]);
});
