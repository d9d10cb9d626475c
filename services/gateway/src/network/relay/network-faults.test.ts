// Workers that stall or violate the protocol: the answer is the same, and the fault is reported.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Frame } from '@strata/inference';
import { type Act, at, COUNT, job, NEVER, truth, until } from '../../test/network/answers.ts';
import { type NetworkOptions, networkOf, UNDISTURBED, type WorkerOptions } from '../../test/network/shared-bed.ts';

/** Short ticks; deadlines that are not in ticks are at least a second. */
const session = { tickMs: 25 };
const heartbeatMs = 25;
const frozen: Act = (_frame, worker) => {
  worker.isFrozen = true;
  return [];
};

describe('a worker that stalls', () => {
  it('is abandoned at any token, and its session continues', async () => {
    // The answer with number n stalls at token n, and the worker continues.
    const stalled = new Set<number>();
    const send: WorkerOptions['send'] = (frame) => {
      if (frame.kind === 'tokens' && frame.position === frame.id - 1) stalled.add(frame.id);
      return (frame.kind === 'tokens' || frame.kind === 'done') && stalled.has(frame.id) ? [] : [frame];
    };
    await using net = await networkOf([{ slots: COUNT, tokensPerSecond: 200, heartbeatMs, send }], { session });
    net.bed.chooseInOrder(1);
    const answers = Array.from({ length: COUNT }, () => net.answer());
    await until(() => net.worker(0).running === COUNT);
    await net.connect(1, { slots: COUNT, heartbeatMs });
    for (const [position, answer] of (await Promise.all(answers)).entries())
      assert.deepEqual(answer, UNDISTURBED, `stalled at ${position}`);
    assert.equal(net.lost().filter((loss) => loss === '0 stalled').length, COUNT);
    await until(() => net.worker(0).frames.filter(({ kind }) => kind === 'cancel').length === COUNT);
    assert.equal(net.bed.session(0).isAlive, true);
  });

  for (const position of [0, 1, 13, COUNT - 1])
    it(`is lost when it sends and receives nothing on an open connection, from token ${position}`, async () => {
      const freezing = { tokensPerSecond: 200, ...at(position, frozen), heartbeatMs };
      await using net = await networkOf([freezing, { heartbeatMs }], { session });
      assert.deepEqual([await net.answer(), net.lost()], [UNDISTURBED, ['0 stalled']]);
      assert.deepEqual(net.bed.ends, [{ peer: net.bed.peer(0), loss: 'stalled', breach: undefined }]);
    });

  it('is lost also when it is idle', async () => {
    await using net = await networkOf([{ heartbeatMs }], { session });
    net.worker(0).isFrozen = true;
    await until(() => net.bed.ends.length === 1);
    assert.equal(net.bed.ends[0]?.loss, 'stalled');
  });
  it('is not one that waits for a slow reader', async () => {
    await using net = await networkOf([{ heartbeatMs }], { session });
    const tokens: number[] = [];
    for await (const event of net.engine.generate(job({ maxTokens: 600 }), NEVER)) {
      if (event.kind !== 'token') continue;
      // Longer than any deadline between tokens, in real time, because the worker has to be silent for that long.
      if (tokens.length === 100) await new Promise((resolve) => setTimeout(resolve, 1_300));
      tokens.push(event.token);
    }
    assert.deepEqual([tokens, net.lost()], [truth(600), []]);
  });
});

describe('a breach of the protocol', () => {
  const token = { token: 5, text: new Uint8Array(1), logprob: 0, top: [] };
  const many = <Value>(length: number, value: Value) => Array.from({ length }, () => value);
  const unsigned = { receipt: Uint8Array.of(1), signature: new Uint8Array(64) };
  const long = { ...token, text: new Uint8Array(16_000) };
  const heartbeat: Frame = { kind: 'pulse', running: 0, waiting: 0, jobs: [] };
  const breaches: readonly (readonly [breach: RegExp, Act])[] = [
    [/./, () => [Uint8Array.of(255, 255, 255, 255)]],
    [/./, () => [new Uint8Array()]],
    [/tokens at 11 instead of 10/, (frame) => [{ ...frame, position: frame.position + 1 }]],
    [/tokens at 10 instead of 11/, (frame) => [frame, frame]],
    [/tokens at 0 instead of 10/, (frame) => [{ ...frame, position: 0 }]],
    [/tokens of 999, which was not requested/, (frame) => [{ ...frame, id: 999 }]],
    [/it began twice/, ({ id }) => [{ kind: 'begin', id, cachedTokens: 0 }]],
    [/more tokens than requested/, (frame) => [{ ...frame, tokens: many(COUNT, token) }]],
    [/tokens that are too long/, (frame) => [{ ...frame, tokens: many(18, long) }]],
    [/alternatives that were not/, (frame) => [{ ...frame, tokens: [{ ...token, top: many(100, token) }] }]],
    [/cancel, which only a gateway sends/, ({ id }) => [{ kind: 'cancel', id }]],
    [/hello twice/, () => [{ kind: 'hello', version: 1, software: 'x', role: 'worker' }]],
    [/an invalid end: cancelled/, ({ id }) => [{ kind: 'done', id, reason: 'cancelled', ...unsigned }]],
    [/a malformed receipt/, ({ id }) => [{ kind: 'done', id, reason: 'stop', ...unsigned }]],
    [/too many heartbeats/, () => many(1_001, heartbeat)],
  ];
  for (const [breach, act] of breaches)
    it(`ends the session, is reported to its worker, and another worker continues: ${breach}`, async () => {
      await using net = await networkOf([at(10, act), {}]);
      assert.deepEqual([await net.answer(), net.lost()], [UNDISTURBED, ['0 protocol']]);
      const { kind, id, code, message } = await net.worker(0).received('failed');
      assert.deepEqual([kind, id, code], ['failed', 0, 'protocol']);
      assert.match(message, breach);
      assert.deepEqual(net.bed.ends, [{ peer: net.bed.peer(0), loss: 'protocol', breach: message }]);
    });

  it('is an answer that exceeds its credit', async () => {
    const onFrame: WorkerOptions['onFrame'] = (frame, worker) => {
      if (frame.kind !== 'request') return true;
      worker.send({ kind: 'begin', id: frame.id, cachedTokens: 0 });
      for (let position = 0; position < 5_000 && !worker.isFrozen; position += 1)
        worker.send({ kind: 'tokens', id: frame.id, position, tokens: [token] });
      return true;
    };
    await using net = await networkOf([{ onFrame }], { timeoutMs: 300 });
    const events = net.engine.generate(job({ maxTokens: 2_000 }), NEVER);
    await events[Symbol.asyncIterator]().next();
    await until(() => net.bed.ends.length === 1);
    assert.match(net.bed.ends[0]?.breach ?? '', /more tokens than it had credit for/);
  });
  it('is a token that the model does not have: it is reported to trust', async () => {
    const act: Act = (frame) => [{ ...frame, tokens: [{ ...token, token: 4_096 }] }];
    await using net = await networkOf([at(10, act), {}]);
    assert.deepEqual(await net.answer(), UNDISTURBED);
    assert.equal(net.trust.breaches[0]?.reason, 'the model has no token 4096');
  });
});

/** Expected after 70 ms, and hedged after a multiple of that. */
const hedged = async (workers: readonly WorkerOptions[], options: NetworkOptions = { hedgeAfter: 3 }) => {
  const net = await networkOf(workers, options);
  net.bed.chooseInOrder(70);
  return net;
};

it('an answer that begins late is hedged, and generated by the worker with the first token', async () => {
  await using net = await hedged([{ prefillTokensPerSecond: 2 }, {}]);
  assert.deepEqual(await net.answer(), UNDISTURBED);
  await net.worker(0).received('cancel');
  assert.deepEqual([net.served(), net.lost()], [[1], []]);
});
it('an answer that begins late is generated by the first worker if its token arrives first', async () => {
  await using net = await hedged([{ prefillTokensPerSecond: 6 }, { prefillTokensPerSecond: 1 }]);
  assert.deepEqual(await net.answer(), UNDISTURBED);
  await net.worker(1).received('request');
  await net.worker(1).received('cancel');
  assert.deepEqual(net.served(), [0]);
});

for (const victim of [0, 1])
  it(`an answer that begins late is generated by the other worker when number ${victim} is killed`, async () => {
    const slow = { prefillTokensPerSecond: 4 };
    await using net = await hedged([slow, slow]);
    const answer = net.answer();
    await until(() => net.worker(0).running + net.worker(1).running === 2);
    net.worker(victim).kill();
    assert.deepEqual([await answer, net.lost()], [UNDISTURBED, [`${victim} disconnected`]]);
  });

// After 700 ms a worker without a token is hedged; this one has its first token long before and its last one after.
for (const [when, slow, options] of [
  ['without the option', { prefillTokensPerSecond: 6 }, {}],
  ['after its first token', { tokensPerSecond: 4 }, { hedgeAfter: 10 }],
] as const)
  it(`an answer that begins late is not hedged ${when}`, async () => {
    await using net = await hedged([slow, {}], options);
    assert.deepEqual((await net.answer(job({ maxTokens: 5 }))).tokens, truth(5));
    assert.ok(!net.worker(1).frames.some(({ kind }) => kind === 'request'));
  });
