// Answers of a network whose workers are killed, against what an undisturbed worker says: token by token the same.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EngineError, type JobSegment } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import { answerOf, at, COUNT, job, killed, MODEL, PROMPT, truth, until } from '../test/network/answers.ts';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { WorkerEngine, WorkerScript } from '../test/network/scripted-worker.ts';

let bed: NetworkBed;
before(async () => {
  bed = await NetworkBed.start(5);
});
after(() => bed?.[Symbol.asyncDispose]());

const whole = { tokens: truth(), kinds: ['begin', 'length'] };

describe('an answer of the network', () => {
  it('is what its worker says, and whoever asks is told who made it', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine());
    const segments: JobSegment[] = [];
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine, job(), { onSegment: (segment) => segments.push(segment) }), whole);
    const [served] = bed.fleet.served;
    assert.deepEqual([served?.made, served?.tokens], [COUNT, [...PROMPT, ...truth()]]);
    assert.deepEqual(
      segments.map(({ from, to, worker }) => [from, to, worker]),
      [[0, COUNT, bed.nodes[0]?.id]],
    );
  });

  it('goes on from tokens that there are', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    const { tokens } = await answerOf(engine, job({ given: truth(12) }));
    assert.deepEqual(tokens, truth().slice(12));
  });

  it('asks nobody for what is whole already', async () => {
    await bed.fresh();
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine, job({ given: truth() })), { tokens: [], kinds: ['begin', 'length'] });
  });

  it('ends where the model ends', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine({ answerTokens: 5 }), at(3, killed));
    await bed.worker(1, createSimulatedEngine({ answerTokens: 5 }));
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), { tokens: truth(5), kinds: ['begin', 'stop'] });
  });

  it('that ends without a token is told to trust, also where it goes on with one of others', async () => {
    for (const made of [0, 10]) {
      await bed.fresh();
      if (made > 0) await bed.worker(0, createSimulatedEngine(), at(made, killed));
      await bed.worker(1, createSimulatedEngine({ answerTokens: made }));
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), { tokens: truth(made), kinds: ['begin', 'stop'] });
      const last = bed.trust.answers.at(-1);
      assert.deepEqual([last?.from, last?.answer, last?.reason], [made, truth(made), 'stop']);
    }
  });

  it('counts what a worker makes side by side, and not what waits', async () => {
    for (const [slots, sideBySide] of [
      [1, 1],
      [3, 3],
    ] as const) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine({ slots, tokensPerSecond: 200 }));
      await using engine = bed.engine(MODEL);
      await Promise.all(Array.from({ length: 3 }, () => answerOf(engine)));
      assert.equal(Math.max(...bed.fleet.served.map((served) => served.sideBySide)), sideBySide, `${slots} slots`);
    }
  });

  it('needs a prompt', async () => {
    await bed.fresh();
    await using engine = bed.engine(MODEL);
    await assert.rejects(answerOf(engine, job({ prompt: [] })), { code: 'prompt-empty' });
  });
});

describe('an answer whose worker has room for less', () => {
  /** An honest worker with a smaller context, or one that lies: from here they look alike. */
  const ending = (maxTokens: number): WorkerEngine => {
    const engine = createSimulatedEngine();
    return { info: engine.info, generate: (asked, signal) => engine.generate({ ...asked, maxTokens }, signal) };
  };

  it('goes on with one that has more', async () => {
    await bed.fresh();
    await bed.worker(0, ending(4));
    await using engine = bed.engine(MODEL);
    const answer = answerOf(engine);
    await until(() => bed.fleet.lost.length === 1);
    await bed.worker(1, createSimulatedEngine());
    assert.deepEqual(await answer, whole);
    assert.deepEqual(
      bed.fleet.lost.map(({ loss }) => loss),
      ['full'],
    );
  });

  it('ends where nobody has more', async () => {
    await bed.fresh();
    await bed.worker(0, ending(4));
    await bed.worker(1, ending(9));
    const ids = bed.nodes.map(({ id }) => id);
    const { choose } = bed.fleet;
    bed.fleet.choose = (wanted, { except }) =>
      choose.call(bed.fleet, wanted, {
        except: except.has(ids[0] ?? '') ? except : new Set([...except, ids[1] ?? '']),
      });
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), { tokens: truth(9), kinds: ['begin', 'length'] });
  });
});

describe('an answer whose worker is killed', () => {
  it('is the same at whichever token that is', async () => {
    for (let position = 0; position < COUNT; position += 1) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), at(position, killed));
      await bed.worker(1, createSimulatedEngine());
      const segments: JobSegment[] = [];
      await using engine = bed.engine(MODEL);
      const answer = await answerOf(engine, job(), { onSegment: (segment) => segments.push(segment) });
      assert.deepEqual(answer, whole, `killed at ${position}`);
      assert.deepEqual(
        bed.fleet.lost.map(({ loss }) => loss),
        ['gone'],
      );
      const cuts =
        position === 0
          ? [[0, COUNT]]
          : [
              [0, position],
              [position, COUNT],
            ];
      assert.deepEqual(
        segments.map(({ from, to }) => [from, to]),
        cuts,
      );
    }
  });

  it('is the same when the next one is killed too, wherever', async () => {
    for (const [first, second] of [
      [0, 0],
      [0, 1],
      [4, 4],
      [4, 5],
      [7, 29],
      [28, 29],
    ] as const) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), at(first, killed));
      await bed.worker(1, createSimulatedEngine(), at(second, killed));
      await bed.worker(2, createSimulatedEngine());
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), whole, `killed at ${first} and ${second}`);
      assert.equal(bed.fleet.lost.length, 2);
    }
  });

  it('is the same when the next one is killed while it reads what there is', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), at(15, killed));
    // Reads 15 tokens in 300 ms, and does not live so long.
    const slow: WorkerScript = {
      hear: (frame, worker) => {
        if (frame.kind === 'request') setTimeout(() => worker.kill(), 60);
        return false;
      },
    };
    await bed.worker(1, createSimulatedEngine({ tokensPerSecond: 50 }), slow);
    await bed.worker(2, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
    assert.equal(bed.fleet.lost.length, 2);
  });

  it('is the same when the worker closes as if nothing were under way, fails, or leaves', async () => {
    for (const code of ['closed', 'engine-failed', 'busy', 'leaving', 'unknown-model'] as const) {
      await bed.fresh();
      const act: WorkerScript = at(9, ({ id }, worker) => {
        if (code !== 'closed') return [{ kind: 'failed', id, code, message: 'no more' }];
        void worker.close();
        return [];
      });
      const other: WorkerScript = { ...act, hear: (frame) => frame.kind === 'cancel' };
      await bed.worker(0, createSimulatedEngine({ tokensPerSecond: 500 }), other);
      await bed.worker(1, createSimulatedEngine());
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), whole, code);
      assert.deepEqual(
        bed.fleet.lost.map(({ loss }) => loss),
        [code === 'closed' ? 'gone' : code],
      );
    }
  });

  it('is read again token by token while that is soon done, else in one batch', async () => {
    for (const [tokensPerSecond, replay] of [
      [1_000, 'exact'],
      [5, 'fast'],
      [0, 'exact'],
    ] as const) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), at(10, killed));
      const second = await bed.worker(1, createSimulatedEngine());
      bed.fleet.decodeTokensPerSecond = tokensPerSecond;
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), whole);
      const request = second.heard.find(({ kind }) => kind === 'request');
      assert.ok(request?.kind === 'request');
      assert.deepEqual([request.replay, request.given], [replay, truth(10)]);
    }
  });

  it('waits for a worker to come when all are lost', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), at(5, killed));
    await using engine = bed.engine(MODEL);
    const answer = answerOf(engine);
    await until(() => bed.fleet.lost.length === 1);
    await bed.worker(1, createSimulatedEngine());
    assert.deepEqual(await answer, whole);
  });

  it('goes on with the same worker once it is back, where there is no other', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), at(5, killed));
    await using engine = bed.engine(MODEL);
    const answer = answerOf(engine);
    await until(() => bed.fleet.lost.length === 1);
    await bed.worker(0, createSimulatedEngine());
    assert.deepEqual(await answer, whole);
  });

  it('fails when nobody comes within its patience', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), at(5, killed));
    await using engine = bed.engine(MODEL, { patienceMs: 100 });
    await assert.rejects(answerOf(engine), (error) => error instanceof EngineError && error.code === 'nobody-there');
  });
});
