// What clients of a network engine may do, and what workers may refuse: stopping, aborting, closing, scores and vectors.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobSegment } from '@strata/engine';
import { readCompletionRequest } from '@strata/inference';
import { simulatedAnswer } from '@strata/testnet';
import { EngineBackend } from '../engine-backend.ts';
import { at, job, killed, MODEL, NEVER, PROMPT, truth, until } from '../test/network/answers.ts';
import { connect, freshBed, networkOf, UNDISTURBED, type WorkerOptions } from '../test/network/shared-bed.ts';

describe('a worker that refuses', () => {
  const refusing = (code: 'grammar-unusable' | 'unusable'): WorkerOptions => ({
    hear(frame, worker) {
      if (frame.kind !== 'request') return false;
      worker.say({ kind: 'failed', id: frame.id, code, message: 'not this' });
      return true;
    },
  });

  it('a grammar is believed where all refuse it, and none of them is lost', async () => {
    await using net = await networkOf(Array.from({ length: 3 }, () => refusing('grammar-unusable')));
    await assert.rejects(net.answer(), { code: 'grammar-unusable' });
    assert.equal(net.fleet.chosen.length, 3);
    assert.deepEqual(net.fleet.lost, []);
  });

  for (const code of ['grammar-unusable', 'unusable'] as const)
    it(`is lost where another one can: ${code}`, async () => {
      await using net = await networkOf([refusing(code), refusing(code), {}]);
      net.bed.chooseInOrder();
      assert.deepEqual(await net.answer(), UNDISTURBED);
      assert.deepEqual(
        net.fleet.lost.map(({ peer, loss }) => [peer, loss]),
        [0, 1].map((host) => [net.bed.peer(host), code]),
      );
    });

  it('a grammar is not believed where others used it', async () => {
    const refuses = refusing('grammar-unusable');
    await using net = await networkOf([at(5, killed), refuses, refuses, {}]);
    net.bed.chooseInOrder();
    assert.deepEqual(await net.answer(), UNDISTURBED);
  });
});

describe('a client', () => {
  it('that stops reading: the worker is cancelled, and its receipt is signed', async () => {
    await using net = await networkOf([{ tokensPerSecond: 200 }]);
    const segments: JobSegment[] = [];
    const context = { caller: 'key-1', onSegment: (segment: JobSegment) => segments.push(segment) };
    let taken = 0;
    for await (const event of net.engine.generate(job({ maxTokens: 10_000 }), NEVER, context))
      if (event.kind === 'token' && ++taken === 7) break;
    const [segment, ...more] = segments;
    assert.deepEqual([segment?.from, segment?.to, more], [0, 7, []], 'at once');
    await net.worker(0).received('settle');
    assert.equal(net.bed.agreed[0]?.receipt.reason, 'cancelled');
    assert.deepEqual([net.trust.answers[0]?.reason, net.trust.answers[0]?.answer], ['cancelled', truth(7)]);
    assert.deepEqual(net.trust.breaches, []);
    assert.equal(net.worker(0).running, 0);
  });

  it('that stops reading: later tokens are checked before the receipt is signed', async () => {
    await using net = await networkOf([{}]);
    for await (const event of net.engine.generate(job({ maxTokens: 100 }), NEVER)) if (event.kind === 'token') break;
    await until(() => net.bed.agreed.length === 1);
    const made = net.bed.agreed[0]?.receipt.to ?? 0;
    assert.ok(made > 1);
    assert.deepEqual(
      net.trust.answers.map(({ from, answer }) => [from, answer]),
      [
        [0, truth(1)],
        [1, truth(made)],
      ],
    );
  });

  it('that stops reading: a later token that the model does not have is a breach', async () => {
    const say: WorkerOptions['say'] = (frame) =>
      frame.kind === 'tokens' && frame.position > 0
        ? [{ ...frame, tokens: frame.tokens.map((token) => ({ ...token, token: 5_000 })) }]
        : [frame];
    await using net = await networkOf([{ say }]);
    for await (const event of net.engine.generate(job(), NEVER)) if (event.kind === 'token') break;
    await until(() => net.trust.breaches.length === 1);
    assert.equal(net.trust.breaches[0]?.reason, 'there is no token 5000 in the model');
    assert.deepEqual(net.bed.agreed, []);
  });

  it('may abort: its answer ends at once, and the worker is cancelled', async () => {
    await using net = await networkOf([{ tokensPerSecond: 2 }]);
    const stop = new AbortController();
    const reading = (async () => {
      for await (const event of net.engine.generate(job(), stop.signal))
        if (event.kind === 'begin') stop.abort('enough');
    })();
    await assert.rejects(reading, (error) => error === 'enough');
    await net.worker(0).received('cancel');
  });

  it('may abort while there is no worker', async () => {
    await using net = await networkOf([]);
    const events = net.engine.generate(job(), AbortSignal.timeout(50))[Symbol.asyncIterator]();
    await assert.rejects(events.next(), { name: 'TimeoutError' });
  });

  it('gets an error when the engine is closed', async () => {
    await using net = await networkOf([{ tokensPerSecond: 5 }]);
    const answer = net.answer();
    await until(() => net.bed.session().load.own === 1);
    await Promise.all([assert.rejects(answer, { code: 'crashed' }), net.engine[Symbol.asyncDispose]()]);
    assert.equal(net.engine.isReady, false);
    await assert.rejects(net.answer(), { code: 'crashed' });
  });

  it('gets scores and vectors from another worker when one is lost', async () => {
    const dying: WorkerOptions = {
      hear(frame, worker) {
        if (frame.kind === 'score' || frame.kind === 'embed') worker.kill();
        return true;
      },
    };
    const living: WorkerOptions = {
      hear(frame, worker) {
        if (frame.kind === 'score') worker.say({ kind: 'scored', id: frame.id, margins: frame.answer.map(() => 0.5) });
        if (frame.kind === 'embed') worker.say({ kind: 'embedded', id: frame.id, vector: [0.5, 0.25] });
        return true;
      },
    };
    await using net = await networkOf([dying, living]);
    const scored = { prompt: PROMPT, answer: simulatedAnswer(PROMPT, { seed: 1, count: 3 }), hasEnd: false };
    assert.deepEqual(await net.engine.score({ ...scored, sampling: job().sampling }, NEVER), [0.5, 0.5, 0.5]);
    await net.connect(0, dying);
    assert.deepEqual(await net.engine.embed(PROMPT, NEVER), Float32Array.of(0.5, 0.25));
  });

  it('gets vectors again from a worker that failed once', async () => {
    let asked = 0;
    const hear: WorkerOptions['hear'] = (frame, worker) => {
      if (frame.kind !== 'embed') return false;
      asked += 1;
      if (asked === 1) worker.say({ kind: 'failed', id: frame.id, code: 'engine-failed', message: 'once' });
      else worker.say({ kind: 'embedded', id: frame.id, vector: [0.5, 0.25] });
      return true;
    };
    const bed = await freshBed();
    await connect(bed, 0, { hear });
    await using engine = bed.engine(MODEL, { fleet: bed.liveFleet(MODEL) });
    for (let i = 0; i < 4; i += 1) assert.deepEqual(await engine.embed(PROMPT, NEVER), Float32Array.of(0.5, 0.25));
    assert.equal(asked, 5);
  });

  it('may ask for more than a frame holds: it is reduced or refused, and no worker is lost', async () => {
    await using net = await networkOf([{ answerTokens: 5 }]);
    const cacheKey = 'secret of a client '.repeat(27);
    const sampling = { ...job().sampling, logitBias: new Map([[9_000_000, 1]]) };
    const { tokens } = await net.answer(job({ maxTokens: 50_000_000, cacheKey, sampling }), { caller: 'key-1' });
    assert.deepEqual(tokens, truth(5));
    const [seen] = net.trust.answers;
    assert.deepEqual([seen?.maxTokens, seen?.sampling.logitBias.size], [1_000_000, 0], 'it can be audited');
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
    assert.deepEqual([net.fleet.lost, net.bed.session().load.own], [[], 0]);
  });
});
