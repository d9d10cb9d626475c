// Workers that stand still, or say what no worker may say: the answer is the same, and what they did has a name.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Frame } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { type Act, answerOf, at, COUNT, job, MODEL, NEVER, stalledAt, truth, until } from '../test/network/answers.ts';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { WorkerScript } from '../test/network/scripted-worker.ts';
import type { Fleet } from './fleet.ts';

/** Ticks are short here; deadlines that are not ticks are a second at least. */
const QUICK = { tickMs: 25 };

let bed: NetworkBed;
before(async () => {
  bed = await NetworkBed.start(3);
});
after(() => bed?.[Symbol.asyncDispose]());

/** The first worker before the second. */
const inOrder =
  (expectedFirstTokenMs: number): Fleet['choose'] =>
  (_wanted, { except }) => {
    const id = [0, 1].map((i) => bed.nodes[i]?.id ?? '').find((each) => !except.has(each));
    const session = [...bed.fleet.sessions].find(({ peer, isAlive }) => isAlive && peer === id);
    return session && { session, expectedFirstTokenMs, decodeTokensPerSecond: 1_000, contextLength: 131_072 };
  };

const whole = { tokens: truth(), kinds: ['begin', 'length'] };

describe('a worker that stands still', () => {
  it('is left at whichever token that is, and lives on', async () => {
    await bed.fresh(QUICK);
    // The answer with number n stands still at token n.
    const { say } = stalledAt((id) => id - 1);
    const worker = await bed.worker(0, createSimulatedEngine({ slots: COUNT, tokensPerSecond: 200 }), {
      say,
      pulseMs: 25,
    });
    bed.fleet.choose = inOrder(1);
    await using engine = bed.engine(MODEL);
    const answers = Array.from({ length: COUNT }, () => answerOf(engine));
    await until(() => worker.running === COUNT);
    await bed.worker(1, createSimulatedEngine({ slots: COUNT }), { pulseMs: 25 });
    for (const [position, answer] of (await Promise.all(answers)).entries())
      assert.deepEqual(answer, whole, `stalled at ${position}`);
    assert.equal(bed.fleet.lost.filter(({ loss }) => loss === 'stalled').length, COUNT);
    await until(() => worker.heard.filter(({ kind }) => kind === 'cancel').length === COUNT);
    assert.equal(bed.session(0).isAlive, true);
  });

  it('is gone when it says and hears nothing although the connection is there', async () => {
    for (const position of [0, 1, 13, COUNT - 1]) {
      await bed.fresh(QUICK);
      const frozen: Act = (_frame, worker) => {
        worker.isFrozen = true;
        return [];
      };
      await bed.worker(0, createSimulatedEngine({ tokensPerSecond: 200 }), { ...at(position, frozen), pulseMs: 25 });
      await bed.worker(1, createSimulatedEngine(), { pulseMs: 25 });
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), whole, `frozen at ${position}`);
      assert.deepEqual(
        bed.fleet.lost.map(({ loss }) => loss),
        ['stalled'],
      );
      assert.deepEqual(
        bed.ends.map(({ loss, breach }) => [loss, breach]),
        [['stalled', undefined]],
      );
    }
  });

  it('is gone also when it has nothing to do', async () => {
    await bed.fresh(QUICK);
    const worker = await bed.worker(0, createSimulatedEngine(), { pulseMs: 25 });
    worker.isFrozen = true;
    await until(() => bed.ends.length === 1);
    assert.equal(bed.ends[0]?.loss, 'stalled');
  });

  it('is not what a worker does that waits for a slow reader', async () => {
    await bed.fresh(QUICK);
    await bed.worker(0, createSimulatedEngine(), { pulseMs: 25 });
    await using engine = bed.engine(MODEL);
    const tokens: number[] = [];
    for await (const event of engine.generate(job({ maxTokens: 600 }), NEVER)) {
      if (event.kind !== 'token') continue;
      // Longer than any deadline between tokens.
      if (tokens.length === 100) await new Promise((resolve) => setTimeout(resolve, 1_600));
      tokens.push(event.token);
    }
    assert.deepEqual(tokens, truth(600));
    assert.deepEqual(bed.fleet.lost, []);
  });
});

describe('a breach of the protocol', () => {
  const token = { token: 5, text: new Uint8Array(1), logprob: 0, top: [] };
  const breaches: readonly { readonly what: string; readonly act: Act; readonly breach: RegExp }[] = [
    { what: 'garbage', act: () => [Uint8Array.of(255, 255, 255, 255)], breach: /./ },
    { what: 'a frame of nothing', act: () => [new Uint8Array()], breach: /./ },
    {
      what: 'a gap',
      act: (frame) => [{ ...frame, position: frame.position + 1 }],
      breach: /tokens at 11 where 10 was due/,
    },
    { what: 'a repeated position', act: (frame) => [frame, frame], breach: /tokens at 10 where 11 was due/ },
    {
      what: 'a position of before',
      act: (frame) => [{ ...frame, position: 0 }],
      breach: /tokens at 0 where 10 was due/,
    },
    {
      what: 'an unknown id',
      act: (frame) => [{ ...frame, id: 999 }],
      breach: /tokens of 999, which was not asked for/,
    },
    { what: 'a second beginning', act: ({ id }) => [{ kind: 'begin', id, cachedTokens: 0 }], breach: /it began twice/ },
    {
      what: 'more tokens than asked for',
      act: (frame) => [{ ...frame, tokens: Array.from({ length: COUNT }, () => token) }],
      breach: /more tokens than were asked for/,
    },
    {
      what: 'many tokens that are long',
      act: (frame) => [
        { ...frame, tokens: Array.from({ length: 18 }, () => ({ ...token, text: new Uint8Array(16_000) })) },
      ],
      breach: /tokens that are too long/,
    },
    {
      what: 'alternatives that nobody asked for',
      act: (frame) => [{ ...frame, tokens: [{ ...token, top: Array.from({ length: 100 }, () => token) }] }],
      breach: /alternatives that were not asked for/,
    },
    { what: 'what a gateway says', act: ({ id }) => [{ kind: 'cancel', id }], breach: /cancel, which a gateway says/ },
    {
      what: 'a second hello',
      act: () => [{ kind: 'hello', version: 1, software: 'x', role: 'worker' }],
      breach: /hello twice/,
    },
    {
      what: 'a cancelled end that nobody asked for',
      act: ({ id }) => [{ kind: 'done', id, reason: 'cancelled', ...unsigned }],
      breach: /cancelled where it cannot be/,
    },
    {
      what: 'a receipt that is none',
      act: ({ id }) => [{ kind: 'done', id, reason: 'stop', ...unsigned }],
      breach: /a receipt that cannot be read/,
    },
    {
      what: 'a flood of pulses',
      act: () => Array.from({ length: 1_001 }, (): Frame => ({ kind: 'pulse', running: 0, waiting: 0, jobs: [] })),
      breach: /a flood of pulses/,
    },
  ];
  const unsigned = { receipt: Uint8Array.of(1), signature: new Uint8Array(64) };

  for (const { what, act, breach } of breaches)
    it(`${what} ends the session, and another worker goes on`, async () => {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), at(10, act));
      await bed.worker(1, createSimulatedEngine());
      await using engine = bed.engine(MODEL);
      assert.deepEqual(await answerOf(engine), whole);
      assert.deepEqual(
        bed.fleet.lost.map(({ loss }) => loss),
        ['protocol'],
      );
      assert.deepEqual(
        bed.ends.map(({ loss }) => loss),
        ['protocol'],
      );
      assert.match(bed.ends[0]?.breach ?? '', breach);
    });

  it('is told to the worker', async () => {
    await bed.fresh();
    const worker = await bed.worker(
      0,
      createSimulatedEngine(),
      at(10, (frame) => [frame, frame]),
    );
    await bed.worker(1, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    await answerOf(engine);
    await until(() => worker.heard.some(({ kind }) => kind === 'failed'));
    const failed = worker.heard.find(({ kind }) => kind === 'failed');
    assert.deepEqual(failed, { kind: 'failed', id: 0, code: 'protocol', message: 'tokens at 10 where 11 was due' });
  });

  it('is an answer that never ends: it is cut off where its credit or its length is', async () => {
    await bed.fresh();
    const endless: WorkerScript = {
      hear(frame, worker) {
        if (frame.kind !== 'request') return true;
        worker.say({ kind: 'begin', id: frame.id, cachedTokens: 0 });
        for (let position = 0; position < 5_000 && !worker.isFrozen; position += 1)
          worker.say({ kind: 'tokens', id: frame.id, position, tokens: [token] });
        return true;
      },
    };
    await bed.worker(0, createSimulatedEngine(), endless);
    await using engine = bed.engine(MODEL, { patienceMs: 300 });
    const events = engine.generate(job({ maxTokens: 2_000 }), NEVER)[Symbol.asyncIterator]();
    await events.next();
    await until(() => bed.ends.length === 1);
    assert.match(bed.ends[0]?.breach ?? '', /more tokens than it had credit for/);
  });

  it('is a token that the model has not: trust hears of it', async () => {
    await bed.fresh();
    await bed.worker(
      0,
      createSimulatedEngine(),
      at(10, (frame) => [{ ...frame, tokens: [{ ...token, token: 4_096 }] }]),
    );
    await bed.worker(1, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
    assert.equal(bed.trust.breaches[0]?.reason, 'there is no token 4096 in the model');
  });
});

describe('a slow beginning', () => {
  it('is doubled where that is wanted, and who gives first makes the answer', async () => {
    await bed.fresh();
    const slow = await bed.worker(0, createSimulatedEngine({ prefillTokensPerSecond: 2 }));
    await bed.worker(1, createSimulatedEngine());
    bed.fleet.choose = inOrder(70);
    await using engine = bed.engine(MODEL, { hedgeAfter: 3 });
    assert.deepEqual(await answerOf(engine), whole);
    await until(() => slow.heard.some(({ kind }) => kind === 'cancel'));
    assert.deepEqual(
      bed.fleet.served.map(({ peer }) => peer),
      [bed.nodes[1]?.id],
    );
    assert.deepEqual(bed.fleet.lost, []);
  });

  it('is the first one’s all the same when it gives first', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine({ prefillTokensPerSecond: 6 }));
    const second = await bed.worker(1, createSimulatedEngine({ prefillTokensPerSecond: 1 }));
    bed.fleet.choose = inOrder(70);
    await using engine = bed.engine(MODEL, { hedgeAfter: 3 });
    assert.deepEqual(await answerOf(engine), whole);
    await until(() => ['request', 'cancel'].every((kind) => second.heard.some((each) => each.kind === kind)));
    assert.deepEqual(
      bed.fleet.served.map(({ peer }) => peer),
      [bed.nodes[0]?.id],
    );
  });

  it('goes on with the other when either is killed', async () => {
    for (const victim of [0, 1]) {
      await bed.fresh();
      const slow = () => createSimulatedEngine({ prefillTokensPerSecond: 4 });
      const workers = [await bed.worker(0, slow()), await bed.worker(1, slow())];
      bed.fleet.choose = inOrder(70);
      await using engine = bed.engine(MODEL, { hedgeAfter: 3 });
      const answer = answerOf(engine);
      await until(() => workers.every(({ running }) => running === 1));
      workers[victim]?.kill();
      assert.deepEqual(await answer, whole);
      assert.deepEqual(
        bed.fleet.lost.map(({ peer }) => peer),
        [bed.nodes[victim]?.id],
      );
    }
  });

  it('is not doubled where nobody wants it, nor after the first token', async () => {
    for (const hedgeAfter of [undefined, 3]) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(hedgeAfter ? { tokensPerSecond: 4 } : { prefillTokensPerSecond: 6 }));
      const other = await bed.worker(1, createSimulatedEngine());
      bed.fleet.choose = inOrder(70);
      await using engine = bed.engine(MODEL, hedgeAfter ? { hedgeAfter: hedgeAfter + 1 } : {});
      const short = job({ maxTokens: 3 });
      assert.deepEqual((await answerOf(engine, short)).tokens, truth(3));
      assert.ok(!other.heard.some(({ kind }) => kind === 'request'));
    }
  });
});
