// Answers of a network whose workers are lost: token by token the same as those of an undisturbed worker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JobSegment } from '@strata/engine';
import { createSimulatedEngine, simulatedText } from '@strata/testnet';
import { at, COUNT, job, killed, NEVER, PROMPT, truth, until } from '../../test/network/answers.ts';
import type { WorkerEngine } from '../../test/network/scripted-worker.ts';
import { networkOf, UNDISTURBED, type WorkerOptions } from '../../test/network/shared-bed.ts';

describe('an answer of the network', () => {
  it('is the output of its worker, and its segment names the worker', async () => {
    await using net = await networkOf([{}]);
    const segments: JobSegment[] = [];
    assert.deepEqual(await net.answer(job(), { onSegment: (segment) => segments.push(segment) }), UNDISTURBED);
    assert.partialDeepStrictEqual(net.fleet.served, [{ made: COUNT, tokens: [...PROMPT, ...truth()] }]);
    assert.equal(segments.length, 1);
    assert.partialDeepStrictEqual(segments, [{ from: 0, to: COUNT, worker: net.bed.peer(0) }]);
  });

  for (const given of [12, COUNT])
    it(`continues ${given} given tokens, and needs no worker if they are complete`, async () => {
      await using net = await networkOf(given < COUNT ? [{}] : []);
      const answer = await net.answer(job({ given: truth(given) }));
      assert.deepEqual(answer, { ...UNDISTURBED, tokens: truth().slice(given) });
    });

  it('ends where the model ends', async () => {
    await using net = await networkOf([{ answerTokens: 5, ...at(3, killed) }, { answerTokens: 5 }]);
    assert.deepEqual(await net.answer(), { tokens: truth(5), kinds: ['begin', 'stop'] });
  });

  for (const made of [0, 10])
    it(`that ends without a token of its worker is reported to trust, after ${made} of another worker`, async () => {
      await using net = await networkOf(made > 0 ? [at(made, killed)] : []);
      await net.connect(1, { answerTokens: made });
      assert.deepEqual(await net.answer(), { tokens: truth(made), kinds: ['begin', 'stop'] });
      const last = { worker: net.bed.peer(1), from: made, answer: truth(made), reason: 'stop' };
      assert.partialDeepStrictEqual(net.trust.answers.at(-1), last);
    });

  for (const slots of [1, 3])
    it(`counts as concurrent only while it is generated: ${slots} of 3`, async () => {
      await using net = await networkOf([{ engine: together(slots) }]);
      await Promise.all(Array.from({ length: 3 }, () => net.answer()));
      assert.equal(Math.max(...net.fleet.served.map(({ concurrentAnswers }) => concurrentAnswers)), slots);
    });

  it('requires a prompt', async () => {
    await using net = await networkOf([]);
    await assert.rejects(net.answer(job({ prompt: [] })), { code: 'prompt-empty' });
  });
});

/** No answer goes on before all slots have one. */
function together(slots: number): WorkerEngine {
  const engine = createSimulatedEngine({ slots, tokensPerSecond: 200 });
  const all = Promise.withResolvers<void>();
  let begun = 0;
  return {
    info: engine.info,
    async *generate(asked, signal) {
      begun += 1;
      if (begun === slots) all.resolve();
      await all.promise;
      yield* engine.generate(asked, signal);
    },
  };
}

/** An honest worker with a smaller context, or a dishonest one: indistinguishable here. */
const ending = (maxTokens: number): WorkerOptions => {
  const engine = createSimulatedEngine();
  const generate: WorkerEngine['generate'] = (asked, signal) => engine.generate({ ...asked, maxTokens }, signal);
  return { engine: { info: engine.info, generate } };
};

it('an answer whose worker has a smaller context is continued by a worker with a larger context', async () => {
  await using net = await networkOf([ending(4)]);
  const answer = net.answer();
  await until(() => net.fleet.lost.length === 1);
  await net.connect(1);
  assert.deepEqual([await answer, net.lost()], [UNDISTURBED, ['0 full']]);
});
it('an answer whose worker has a smaller context ends if no worker has a larger one', async () => {
  await using net = await networkOf([ending(4), ending(9)]);
  net.bed.chooseInOrder();
  assert.deepEqual(await net.answer(), { tokens: truth(9), kinds: ['begin', 'length'] });
});

describe('an answer whose worker is killed', () => {
  const alone = Array.from({ length: COUNT }, (_, position) => [position]);
  const twice = ['0,0', '0,1', '4,4', '4,5', '7,29', '28,29'].map((pair) => pair.split(',').map(Number));
  for (const [which, positions] of Object.entries({ 'a worker is': alone, 'the next one is, too,': twice }))
    it(`is the same for every token at which ${which} killed`, async () => {
      for (const killedAt of positions) {
        await using net = await networkOf([...killedAt.map((position) => at(position, killed)), {}]);
        const parts: string[] = [];
        const answer = await net.answer(job(), { onSegment: ({ from, to }) => parts.push(`${from}-${to}`) });
        assert.deepEqual(answer, UNDISTURBED, `killed at ${killedAt}`);
        const lost = killedAt.map((_, host) => `${host} disconnected`);
        const cuts = [...new Set([0, ...killedAt, COUNT])];
        const made = cuts.slice(1).map((to, i) => `${cuts[i]}-${to}`);
        assert.deepEqual([net.lost(), parts], [lost, made]);
      }
    });

  it('is the same when the next worker is killed while it reads the given tokens', async () => {
    // It reads 15 tokens in 300 ms, and is killed before.
    const slow: WorkerOptions = {
      tokensPerSecond: 50,
      onFrame: (frame, worker) => {
        if (frame.kind === 'request') setTimeout(() => worker.kill(), 60);
        return false;
      },
    };
    await using net = await networkOf([at(15, killed), slow, {}]);
    assert.deepEqual([await net.answer(), net.fleet.lost.length], [UNDISTURBED, 2]);
  });

  it('has the same log-probabilities and alternatives, the text of its vocabulary, and keeps its grammar', async () => {
    const evil = Buffer.from('EVIL');
    const top = [{ token: 8, bytes: evil, logprob: -2 }];
    const tokens = truth(4).map((token) => ({ kind: 'token', token, bytes: evil, logprob: -0.5, top }) as const);
    const generate: WorkerEngine['generate'] = async function* ({ given }) {
      yield { kind: 'begin', cachedTokens: 0 };
      yield* tokens.slice(given.length);
      yield { kind: 'end', reason: 'length' };
    };
    const engine = { info: createSimulatedEngine().info, generate };
    await using net = await networkOf([{ engine, ...at(2, killed) }, { engine }]);
    net.bed.chooseInOrder();
    const asked = { maxTokens: 4, grammar: 'root ::= "a"*', topLogprobs: 1 };
    const events = await Array.fromAsync(net.engine.generate(job(asked), NEVER));
    const read = (token: number) => Uint8Array.from(Buffer.from(simulatedText(token)));
    const honest = (each: (typeof tokens)[number]) => {
      return { ...each, bytes: read(each.token), top: each.top.map((other) => ({ ...other, bytes: read(8) })) };
    };
    assert.deepEqual(events.slice(1, -1), tokens.map(honest));
    assert.partialDeepStrictEqual(await net.worker(1).received('request'), asked);
  });

  for (const code of ['closed', 'engine-failed', 'busy', 'leaving', 'unknown-model'] as const)
    it(`is the same when the worker ends it as ${code}`, async () => {
      const act = at(9, ({ id }, worker) => {
        if (code !== 'closed') return [{ kind: 'failed', id, code, message: 'no more' }];
        void worker.close();
        return [];
      });
      const onFrame: WorkerOptions['onFrame'] = (frame) => frame.kind === 'cancel';
      await using net = await networkOf([{ tokensPerSecond: 500, ...act, onFrame }, {}]);
      const expected = [UNDISTURBED, [`0 ${code === 'closed' ? 'disconnected' : code}`]];
      assert.deepEqual([await net.answer(), net.lost()], expected);
    });

  const replays = { 1000: 'exact', 5: 'fast', 0: 'exact' };
  for (const [tokensPerSecond, replay] of Object.entries(replays))
    it(`is replayed ${replay} if ${tokensPerSecond} tokens per second are expected`, async () => {
      await using net = await networkOf([at(10, killed), {}]);
      net.fleet.decodeTokensPerSecond = Number(tokensPerSecond);
      assert.deepEqual(await net.answer(), UNDISTURBED);
      const request = await net.worker(1).received('request');
      assert.deepEqual([request.replay, request.given], [replay, truth(10)]);
    });

  for (const [host, who] of ['the same worker', 'another worker'].entries())
    it(`is continued by ${who} that connects later`, async () => {
      await using net = await networkOf([at(5, killed)]);
      const answer = net.answer();
      await until(() => net.fleet.lost.length === 1);
      await net.connect(host);
      assert.deepEqual(await answer, UNDISTURBED);
    });

  it('fails if no worker connects in time', async () => {
    await using net = await networkOf([at(5, killed)], { timeoutMs: 100 });
    await assert.rejects(net.answer(), { name: 'EngineError', code: 'no-worker' });
    assert.deepEqual([net.engine.isReady, net.engine.unavailable], [false, 'no worker offers it']);
  });
});
