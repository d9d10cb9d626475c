// A session with a worker over a real channel: hello, offers, calls, credit, cancelling, and what is kept of what nobody reads.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { encodeFrame, encodeOffer, type Frame, type FrameOf, type Offer, offerSignedBytes } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { COUNT, job, MODEL, NEVER, PROMPT, until } from '../test/network/answers.ts';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { ScriptedWorker, WorkerScript } from '../test/network/scripted-worker.ts';
import { openWorkerSession } from './open-session.ts';
import type { SessionRequest } from './worker-session.ts';

let bed: NetworkBed;
before(async () => {
  bed = await NetworkBed.start(1);
});
after(() => bed?.[Symbol.asyncDispose]());

const request = (more: Partial<SessionRequest> = {}): SessionRequest => {
  const { prompt, given, replay, maxTokens, sampling } = job();
  const nonce = new Uint8Array(16);
  return {
    ...{ nonce, modelSha256: MODEL, prompt, given, replay, maxTokens, sampling: { ...sampling, logitBias: [] } },
    ...more,
  };
};

const silent: WorkerScript = { hear: () => true };

describe('hello', () => {
  const refused: readonly (readonly [string, WorkerScript, string, RegExp])[] = [
    [
      'of another version is told so',
      { hello: { kind: 'hello', version: 2, software: 'x', role: 'worker' } },
      'protocol',
      /version 2, and here 1/,
    ],
    [
      'of a gateway is none',
      { hello: { kind: 'hello', version: 1, software: 'x', role: 'gateway' } },
      'protocol',
      /no worker/,
    ],
    [
      'comes first',
      { say: () => [{ kind: 'pulse', running: 0, waiting: 0, jobs: [] }] },
      'protocol',
      /pulse before hello/,
    ],
    ['is a frame', { say: () => [Uint8Array.of(1, 2, 3)] }, 'protocol', /no frame/],
    ['is waited for, but not for ever', { say: () => [] }, 'stalled', /stalled/],
    [
      'may be a refusal',
      { say: () => [{ kind: 'failed', id: 0, code: 'leaving', message: 'closing' }] },
      'leaving',
      /closing/,
    ],
  ];
  for (const [what, script, loss, words] of refused)
    it(what, async () => {
      await bed.fresh({ helloLimitMs: 300 });
      const ended = bed.nextEnd();
      const worker = await bed.closedWorker(0, createSimulatedEngine(), { ...script, pulseMs: 100_000 });
      const end = await ended;
      assert.equal(end.loss, loss);
      assert.match(end.breach ?? '', words);
      if (loss === 'protocol') await until(() => worker.heard.some(({ kind }) => kind === 'failed'));
    });
});

describe('an offer', () => {
  const offer = (more: Partial<Offer> = {}): Offer => ({
    ...{ peer: bed.nodes[0]?.id ?? '', sequence: 1, issuedAtMs: 1, expiresAtMs: 2, software: 'x' },
    ...{ models: [], running: 0, waiting: 0 },
    ...more,
  });
  const signed = async (worker: ScriptedWorker, said: Offer): Promise<FrameOf<'offer'>> => {
    const bytes = encodeOffer(said);
    return { kind: 'offer', offer: bytes, signature: await worker.node.sign(offerSignedBytes(bytes)) };
  };

  it('is handed on with its signature, and not more often than is good', async () => {
    const heard: Offer[] = [];
    await bed.fresh({ onOffer: (each) => heard.push(each) });
    const worker = await bed.worker(0, createSimulatedEngine());
    for (let sequence = 1; sequence <= 40; sequence += 1) worker.say(await signed(worker, offer({ sequence })));
    worker.say({ kind: 'pulse', running: 77, waiting: 0, jobs: [] });
    await until(() => bed.session().load.running === 77);
    assert.ok(heard.length >= 30 && heard.length < 40, `${heard.length} offers`);
    assert.equal(heard[0]?.sequence, 1);
  });

  it('that is forged, of another peer, or none at all is a breach', async () => {
    const wrong: readonly [RegExp, (worker: ScriptedWorker) => Promise<Frame>][] = [
      [/forged/, async (worker) => ({ ...(await signed(worker, offer())), signature: new Uint8Array(64) })],
      [/of another peer/, (worker) => signed(worker, offer({ peer: bed.gateway.id }))],
      [/./, async () => ({ kind: 'offer', offer: Uint8Array.of(1), signature: new Uint8Array(64) })],
    ];
    for (const [breach, make] of wrong) {
      await bed.fresh();
      const worker = await bed.worker(0, createSimulatedEngine());
      worker.say(await make(worker));
      await until(() => bed.ends.length === 1);
      assert.match(bed.ends[0]?.breach ?? '', breach);
    }
  });
});

describe('what nobody reads', () => {
  it('is no more than its credit, and comes when it is read', async () => {
    await bed.fresh();
    let said = 0;
    await bed.worker(0, createSimulatedEngine(), {
      say: (frame) => {
        if (frame.kind === 'tokens') said += frame.tokens.length;
        return [frame];
      },
    });
    const run = bed.session().run(request({ maxTokens: 5_000 }), { signal: NEVER, onSegment: () => {} });
    const events = run[Symbol.asyncIterator]();
    await until(() => said === 256);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(said, 256);
    let read = 0;
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.kind === 'tokens') read += next.value.tokens.length;
      assert.ok(said - read <= 256, `${said - read} unread`);
    }
    assert.equal(read, 5_000);
  });

  it('of cancelled jobs is dropped, their late words are no breach, and their receipts come', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine({ slots: 100, tokensPerSecond: 300 }));
    const segments: number[] = [];
    for (let i = 0; i < 50; i += 1) {
      const onSegment = () => segments.push(i);
      for await (const event of bed.session().run(request({ maxTokens: 5_000 }), { signal: NEVER, onSegment }))
        if (event.kind === 'tokens') break;
    }
    await until(() => segments.length === 50);
    assert.deepEqual([bed.session().load.own, worker.running, bed.ends.length], [0, 0, 0]);
  });

  it('is forgotten when the receipt does not come, and may come late even then', async () => {
    await bed.fresh({ tickMs: 10 });
    const late: Frame[] = [];
    let isLateWordSaid = false;
    const worker = await bed.worker(0, createSimulatedEngine(), {
      pulseMs: 10,
      say: (frame) => {
        // What stands in each pulse after the late word shows that it was taken.
        if (frame.kind === 'pulse') return [{ ...frame, waiting: isLateWordSaid ? 6 : 0 }];
        if (frame.kind !== 'done') return [frame];
        late.push(frame);
        return [];
      },
    });
    for await (const event of bed.session().run(request({ maxTokens: 5_000 }), { signal: NEVER, onSegment: () => {} }))
      if (event.kind === 'tokens') break;
    await until(() => late.length === 1 && bed.session().load.own === 0);
    worker.say({ kind: 'failed', id: 1, code: 'busy', message: 'late' });
    isLateWordSaid = true;
    await until(() => bed.session().load.waiting === 6);
    assert.equal(bed.session().isAlive, true);
  });
});

describe('a session that ends', () => {
  it('ends all that is under way, and takes nothing more', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine({ tokensPerSecond: 1 }), silent);
    const session = bed.session();
    const { sampling } = request();
    const scored = { modelSha256: MODEL, prompt: PROMPT, answer: [1], hasEnd: false, sampling };
    const run = () =>
      session
        .run(request(), { signal: NEVER, onSegment: () => {} })
        [Symbol.asyncIterator]()
        .next();
    const pending = [run(), run(), session.score(scored, NEVER), session.vocabulary(MODEL, NEVER)];
    await until(() => worker.heard.length === 1 + pending.length);
    worker.kill();
    for (const each of pending) await assert.rejects(each, { name: 'WorkerLostError', loss: 'gone' });
    assert.equal(session.isAlive, false);
    await assert.rejects(session.embed({ modelSha256: MODEL, tokens: PROMPT }, NEVER), { loss: 'gone' });
    await assert.rejects(async () => run(), { loss: 'gone' });
    session.settle(new Uint8Array(16), new Uint8Array(64));
    assert.deepEqual(
      bed.ends.map(({ loss }) => loss),
      ['gone'],
    );
  });
});

describe('a call', () => {
  const file = Buffer.from('GGUF'.repeat(1_000));
  const digest = createHash('sha256').update(file).digest('hex');
  /** Answers questions for a vocabulary part by part. */
  const giving = (part: (ask: FrameOf<'vocabularyAsk'>) => Partial<FrameOf<'vocabularyPart'>>): WorkerScript => ({
    hear(frame, worker) {
      if (frame.kind !== 'vocabularyAsk') return true;
      const { id, from } = frame;
      const whole = { kind: 'vocabularyPart', id, from, sizeBytes: file.byteLength } as const;
      worker.say({ ...whole, part: file.subarray(from, from + 1_500), ...part(frame) });
      return true;
    },
  });

  it('brings a vocabulary part by part', async () => {
    await bed.fresh();
    await bed.worker(
      0,
      createSimulatedEngine(),
      giving(() => ({})),
    );
    assert.deepEqual(Buffer.from(await bed.session().vocabulary(digest, NEVER)), file);
  });

  const wrong: readonly (readonly [RegExp, WorkerScript])[] = [
    [/out of order/, giving(({ from }) => ({ from: from + 1 }))],
    [/out of order/, giving(({ from }) => ({ sizeBytes: file.byteLength + from }))],
    [/too large/, giving(() => ({ sizeBytes: 2 ** 31 }))],
    [/wrong length/, giving(() => ({ part: new Uint8Array() }))],
    [/another digest/, giving(() => ({ sizeBytes: 4, part: new Uint8Array(4) }))],
  ];
  it('is not deceived about a vocabulary', async () => {
    for (const [breach, script] of wrong) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), script);
      await assert.rejects(bed.session().vocabulary(digest, NEVER), { loss: 'protocol' });
      assert.match(bed.ends[0]?.breach ?? '', breach);
    }
  });

  it('is not deceived about scores, and takes no answer to another question', async () => {
    const { sampling } = request();
    const scored = { modelSha256: MODEL, prompt: PROMPT, answer: [1, 2], hasEnd: true, sampling };
    const replies: readonly (readonly [RegExp, (id: number) => Frame])[] = [
      [/another length/, (id) => ({ kind: 'scored', id, margins: [0, 0] })],
      [/another question/, (id) => ({ kind: 'embedded', id, vector: [1] })],
      [/was not asked for/, (id) => ({ kind: 'scored', id: id + 1, margins: [0, 0, 0] })],
    ];
    for (const [breach, reply] of replies) {
      await bed.fresh();
      const hear: WorkerScript['hear'] = (frame, worker) => {
        if (frame.kind === 'score') worker.say(reply(frame.id));
        return true;
      };
      await bed.worker(0, createSimulatedEngine(), { hear });
      await assert.rejects(bed.session().score(scored, NEVER), { loss: 'protocol' });
      assert.match(bed.ends[0]?.breach ?? '', breach);
    }
  });

  it('may be given up; what comes then is no breach', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine(), silent);
    const stop = new AbortController();
    const asked = bed.session().embed({ modelSha256: MODEL, tokens: PROMPT }, stop.signal);
    await until(() => worker.heard.some(({ kind }) => kind === 'embed'));
    stop.abort(new Error('enough'));
    await assert.rejects(asked, { message: 'enough' });
    worker.say({ kind: 'embedded', id: 1, vector: [1] });
    worker.say({ kind: 'pulse', running: COUNT, waiting: 0, jobs: [] });
    await until(() => bed.session().load.running === COUNT);
  });
});

describe('a channel that takes nothing any more', () => {
  it('ends the session although its other side lives on', async () => {
    const broken = new AbortController();
    async function* messages() {
      yield encodeFrame({ kind: 'hello', version: 1, software: 'x', role: 'worker' });
      await once(broken.signal, 'abort');
    }
    let sent = 0;
    const ended = Promise.withResolvers<{ readonly loss: string }>();
    const channel = {
      ...{ peer: 'p', messages: messages(), close: async () => {}, abort: () => broken.abort() },
      async send() {
        sent += 1;
        if (sent > 1) throw new Error('its side is closed');
      },
    };
    const heard = { software: 'x', roundTripMs: () => 1, onOffer: () => {}, onEnd: ended.resolve, tickMs: 10 };
    await using session = await openWorkerSession(channel, heard);
    const asked = session.embed({ modelSha256: MODEL, tokens: PROMPT }, NEVER);
    await assert.rejects(asked, { loss: 'gone' });
    assert.equal((await ended.promise).loss, 'gone');
  });
});
