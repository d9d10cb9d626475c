// What whoever asks a network may do, and what workers may refuse: stopping, aborting, closing, scores and vectors.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobSegment } from '@strata/engine';
import { createSimulatedEngine, simulatedAnswer } from '@strata/testnet';
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

  it('is believed when another one says so too', async () => {
    for (const [code, told] of [
      ['grammar-unusable', 'grammar-unusable'],
      ['unusable', 'job-too-long'],
    ] as const) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), refusing(code));
      await bed.worker(1, createSimulatedEngine(), refusing(code));
      await bed.worker(2, createSimulatedEngine());
      bed.fleet.choose = choosingInOrder();
      await using engine = bed.engine(MODEL);
      await assert.rejects(answerOf(engine), { code: told });
      assert.deepEqual(bed.fleet.lost, [], 'it is the request that is at fault');
    }
  });

  it('is not believed alone', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), refusing('grammar-unusable'));
    await bed.worker(1, createSimulatedEngine());
    bed.fleet.choose = choosingInOrder();
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
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
      return session && { session, expectedFirstTokenMs: 100, decodeTokensPerSecond: 1_000, contextLength: 131_072 };
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
      bed.trust.answers.map(({ reason, answer }) => [reason, answer]),
      [['cancelled', truth(7)]],
    );
    assert.deepEqual(bed.trust.breaches, []);
    assert.equal(worker.running, 0);
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
});
