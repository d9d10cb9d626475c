// What whoever asks a network may do, and what workers may refuse: stopping, aborting, closing, scores and vectors.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobSegment } from '@strata/engine';
import { readCompletionRequest } from '@strata/inference';
import { createSimulatedEngine, simulatedAnswer } from '@strata/testnet';
import { EngineBackend } from '../engine-backend.ts';
import { answerOf, at, job, killed, MODEL, NEVER, PROMPT, truth, until } from '../test/network/answers.ts';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { WorkerScript } from '../test/network/scripted-worker.ts';

let bed: NetworkBed;
before(async () => {
  bed = await NetworkBed.start(5);
});
after(() => bed?.[Symbol.asyncDispose]());

const whole = { tokens: truth(), kinds: ['begin', 'length'] };

describe('a worker that refuses', () => {
  const refusing = (code: 'grammar-unusable' | 'unusable'): WorkerScript => ({
    hear(frame, worker) {
      if (frame.kind !== 'request') return false;
      worker.say({ kind: 'failed', id: frame.id, code, message: 'not this' });
      return true;
    },
  });

  it('a grammar is believed when all say so, and nothing is held against them', async () => {
    await bed.fresh();
    for (const i of [0, 1, 2]) await bed.worker(i, createSimulatedEngine(), refusing('grammar-unusable'));
    await using engine = bed.engine(MODEL);
    await assert.rejects(answerOf(engine), { code: 'grammar-unusable' });
    assert.equal(bed.fleet.chosen.length, 3);
    assert.deepEqual(bed.fleet.lost, [], 'it is the request that is at fault');
  });

  for (const code of ['grammar-unusable', 'unusable'] as const)
    it(`is not believed where another one can: ${code} is held against both who said so`, async () => {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), refusing(code));
      await bed.worker(1, createSimulatedEngine(), refusing(code));
      await bed.worker(2, createSimulatedEngine());
      bed.fleet.choose = choosingInOrder();
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), whole);
      const refused = [0, 1].map((i) => ({ peer: bed.nodes[i]?.id, loss: code }));
      assert.deepEqual(
        bed.fleet.lost.map(({ peer, loss }) => ({ peer, loss })),
        refused,
      );
    });

  it('is not believed where others went on with it', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), at(5, killed));
    await bed.worker(1, createSimulatedEngine(), refusing('grammar-unusable'));
    await bed.worker(2, createSimulatedEngine(), refusing('grammar-unusable'));
    await bed.worker(3, createSimulatedEngine());
    bed.fleet.choose = choosingInOrder();
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
  });

  /** The first of the workers that is there. */
  function choosingInOrder(): typeof bed.fleet.choose {
    return (_wanted, { except }) => {
      const ids = bed.nodes.map(({ id }) => id);
      const [session] = [...bed.fleet.sessions]
        .filter(({ peer, isAlive }) => isAlive && !except.has(peer))
        .sort((a, b) => ids.indexOf(a.peer) - ids.indexOf(b.peer));
      return session && { session, expectedFirstTokenMs: 100, decodeTokensPerSecond: 1_000 };
    };
  }
});

describe('whoever asks', () => {
  it('may stop reading: the worker is told, and its receipt is agreed to all the same', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine({ tokensPerSecond: 200 }));
    const segments: JobSegment[] = [];
    await using engine = bed.engine(MODEL);
    const context = { caller: 'key-1', onSegment: (segment: JobSegment) => segments.push(segment) };
    let taken = 0;
    for await (const event of engine.generate(job({ maxTokens: 10_000 }), NEVER, context))
      if (event.kind === 'token' && ++taken === 7) break;
    assert.deepEqual(
      segments.map(({ from, to }) => [from, to]),
      [[0, 7]],
      'at once',
    );
    await until(() => bed.agreed.length === 1 && worker.heard.some(({ kind }) => kind === 'settle'));
    assert.equal(bed.agreed[0]?.receipt.reason, 'cancelled');
    assert.deepEqual(
      bed.trust.answers.slice(0, 1).map(({ reason, answer }) => [reason, answer]),
      [['cancelled', truth(7)]],
    );
    assert.deepEqual(bed.trust.breaches, []);
    assert.equal(worker.running, 0);
  });

  it('may stop reading, and what comes after that is checked like the rest before it is agreed to', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    for await (const event of engine.generate(job({ maxTokens: 100 }), NEVER)) if (event.kind === 'token') break;
    await until(() => bed.agreed.length === 1);
    const made = bed.agreed[0]?.receipt.to ?? 0;
    assert.ok(made > 1);
    const [read, late] = bed.trust.answers;
    assert.deepEqual([read?.from, read?.answer], [0, truth(1)]);
    assert.deepEqual([late?.from, late?.answer], [1, truth(made)]);
    assert.equal(bed.trust.answers.length, 2);
  });

  it('may stop reading: what no model has is not agreed to then either', async () => {
    await bed.fresh();
    const inventing: WorkerScript = {
      say: (frame) =>
        frame.kind === 'tokens' && frame.position > 0
          ? [{ ...frame, tokens: frame.tokens.map((token) => ({ ...token, token: 5_000 })) }]
          : [frame],
    };
    await bed.worker(0, createSimulatedEngine(), inventing);
    await using engine = bed.engine(MODEL);
    for await (const event of engine.generate(job(), NEVER)) if (event.kind === 'token') break;
    await until(() => bed.trust.breaches.length === 1);
    assert.equal(bed.trust.breaches[0]?.reason, 'there is no token 5000 in the model');
    assert.deepEqual(bed.agreed, []);
  });

  it('may abort, and hears of it at once', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine({ tokensPerSecond: 2 }));
    await using engine = bed.engine(MODEL);
    const stop = new AbortController();
    const reading = (async () => {
      for await (const event of engine.generate(job(), stop.signal)) if (event.kind === 'begin') stop.abort('enough');
    })();
    await assert.rejects(reading, (error) => error === 'enough');
    await until(() => worker.heard.some(({ kind }) => kind === 'cancel'));
  });

  it('may abort while there is no worker', async () => {
    await bed.fresh();
    await using engine = bed.engine(MODEL);
    const stop = AbortSignal.timeout(50);
    await assert.rejects(engine.generate(job(), stop)[Symbol.asyncIterator]().next(), { name: 'TimeoutError' });
  });

  it('hears that the engine is closed', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine({ tokensPerSecond: 5 }));
    const engine = bed.engine(MODEL);
    const answer = answerOf(engine);
    await until(() => bed.session().load.own === 1);
    await Promise.all([assert.rejects(answer, { code: 'crashed' }), engine[Symbol.asyncDispose]()]);
    assert.equal(engine.isReady, false);
    await assert.rejects(answerOf(engine), { code: 'crashed' });
  });

  it('gets scores and vectors from another worker when one is lost', async () => {
    await bed.fresh();
    const dying: WorkerScript = {
      hear(frame, worker) {
        if (frame.kind === 'score' || frame.kind === 'embed') worker.kill();
        return true;
      },
    };
    const living: WorkerScript = {
      hear(frame, worker) {
        if (frame.kind === 'score') worker.say({ kind: 'scored', id: frame.id, margins: frame.answer.map(() => 0.5) });
        if (frame.kind === 'embed') worker.say({ kind: 'embedded', id: frame.id, vector: [0.5, 0.25] });
        return true;
      },
    };
    await bed.worker(0, createSimulatedEngine(), dying);
    await bed.worker(1, createSimulatedEngine(), living);
    await using engine = bed.engine(MODEL);
    const scored = { prompt: PROMPT, answer: simulatedAnswer(PROMPT, { seed: 1, count: 3 }), hasEnd: false };
    assert.deepEqual(await engine.score({ ...scored, sampling: job().sampling }, NEVER), [0.5, 0.5, 0.5]);
    await bed.worker(0, createSimulatedEngine(), dying);
    assert.deepEqual(await engine.embed(PROMPT, NEVER), Float32Array.of(0.5, 0.25));
  });

  it('gets vectors one after another from a worker that failed once', async () => {
    await bed.fresh();
    let asked = 0;
    const failingOnce: WorkerScript = {
      hear(frame, worker) {
        if (frame.kind !== 'embed') return false;
        asked += 1;
        if (asked === 1) worker.say({ kind: 'failed', id: frame.id, code: 'engine-failed', message: 'once' });
        else worker.say({ kind: 'embedded', id: frame.id, vector: [0.5, 0.25] });
        return true;
      },
    };
    await bed.worker(0, createSimulatedEngine(), failingOnce);
    await using engine = bed.engine(MODEL, { fleet: bed.liveFleet(MODEL) });
    for (let i = 0; i < 4; i += 1) assert.deepEqual(await engine.embed(PROMPT, NEVER), Float32Array.of(0.5, 0.25));
    assert.equal(asked, 5);
  });

  it('may ask for more than a frame may say: it is brought down to that, or refused, and no worker is blamed', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine({ answerTokens: 5 }));
    await using engine = bed.engine(MODEL);
    const cacheKey = 'secret of a client '.repeat(27);
    const sampling = { ...job().sampling, logitBias: new Map([[9_000_000, 1]]) };
    const { tokens } = await answerOf(engine, job({ maxTokens: 50_000_000, cacheKey, sampling }), { caller: 'key-1' });
    assert.deepEqual(tokens, truth(5));
    const [told] = bed.trust.answers;
    assert.deepEqual([told?.maxTokens, told?.sampling.logitBias.size], [1_000_000, 0], 'it can be audited');
    const heard = worker.heard.find(({ kind }) => kind === 'request');
    assert.ok(heard?.kind === 'request' && heard.cacheKey?.length === 64);
    assert.equal(heard.cacheKey.includes('secret'), false);
    const logitBias = new Map(Array.from({ length: 4_000 }, (_, token) => [token, 2e6]));
    const tooMuch = job({ sampling: { ...job().sampling, logitBias } });
    await assert.rejects(answerOf(engine, tooMuch), { code: 'job-too-long' });
    await assert.rejects(engine.score({ ...tooMuch, answer: [1], hasEnd: false }, NEVER), { code: 'job-too-long' });
    const request = readCompletionRequest({ model: 'm', prompt: PROMPT });
    const plan = await new EngineBackend(engine).planText({ ...request, sampling: tooMuch.sampling });
    const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
    const deltas = plan.choices[0]?.deltas({ usage, context: {}, signal: NEVER });
    await assert.rejects(
      async () => {
        for await (const _ of deltas ?? []);
      },
      { name: 'CompletionError', kind: 'context_length' },
    );
    assert.deepEqual([bed.fleet.lost, bed.session().load.own], [[], 0]);
  });
});
