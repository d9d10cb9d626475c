// A session with a worker over a real channel: hello, offers, calls, credit, load, and unread answers.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { encodeFrame, encodeOffer, type Frame, type FrameOf, type Offer, offerSignedBytes } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { MODEL, NEVER, PROMPT, until } from '../../test/network/answers.ts';
import type { TestNetwork } from '../../test/network/network-bed.ts';
import type { ScriptedWorker } from '../../test/network/scripted-worker.ts';
import { freshBed, requestOf, sessionWith, type WorkerOptions } from '../../test/network/shared-bed.ts';
import { openWorkerSession } from './open-session.ts';
import type { WorkerSession } from './worker-session.ts';

/** Waits until the session has received everything that the worker has sent. */
async function untilReceived(worker: ScriptedWorker, session: WorkerSession): Promise<void> {
  worker.send({ kind: 'pulse', running: 77, waiting: 0, jobs: [] });
  await until(() => session.load.running === 77);
}

async function breachOf({ ends }: TestNetwork): Promise<string> {
  await until(() => ends.length === 1);
  return ends[0]?.breach ?? '';
}

const hello = { kind: 'hello', version: 1, software: 'x', role: 'worker' } as const;
const heartbeat = { kind: 'pulse', running: 0, waiting: 0, jobs: [] } as const;
const send = (...frames: readonly (Frame | Uint8Array)[]): WorkerOptions => ({ send: () => frames });
const failed = { kind: 'failed', id: 0, code: 'leaving', message: 'closing' } as const;
const refused: Readonly<Record<string, readonly [WorkerOptions, loss: string, breach: RegExp]>> = {
  'of another version': [{ hello: { ...hello, version: 2 } }, 'protocol', /version 2, expected 1/],
  'of a gateway': [{ hello: { ...hello, role: 'gateway' } }, 'protocol', /not a worker/],
  'after another frame': [send(heartbeat), 'protocol', /pulse before hello/],
  'that is not a frame': [send(Uint8Array.of(1, 2, 3)), 'protocol', /not a frame/],
  'that does not come': [send(), 'stalled', /stalled/],
  'that is a refusal': [send(failed), 'leaving', /closing/],
};
for (const [name, [script, loss, breach]] of Object.entries(refused))
  it(`a hello ${name} ends as ${loss}`, async () => {
    const bed = await freshBed({ helloLimitMs: loss === 'stalled' ? 50 : 15_000 });
    const worker = await bed.closedWorker(0, createSimulatedEngine(), { ...script, heartbeatMs: 100_000 });
    assert.match(await breachOf(bed), breach);
    assert.equal(bed.ends[0]?.loss, loss);
    if (loss === 'protocol') await worker.received('failed');
  });

const signed = async ({ node }: ScriptedWorker, more: Partial<Offer> = {}): Promise<FrameOf<'offer'>> => {
  const bytes = encodeOffer({
    ...{ peer: node.id, sequence: 1, issuedAtMs: 1, expiresAtMs: 2, software: 'x' },
    ...{ models: [], running: 0, waiting: 0, ...more },
  });
  return { kind: 'offer', offer: bytes, signature: await node.sign(offerSignedBytes(bytes)) };
};

it('an offer is passed on, at a limited rate', async () => {
  const offers: Offer[] = [];
  const { session, worker } = await sessionWith({}, { onOffer: (offer) => offers.push(offer) });
  for (let sequence = 1; sequence <= 40; sequence += 1) worker.send(await signed(worker, { sequence }));
  await untilReceived(worker, session);
  assert.ok(offers[0]?.sequence === 1 && offers.length >= 30 && offers.length < 40, `${offers.length} offers`);
});

const wrong: readonly (readonly [breach: RegExp, (worker: ScriptedWorker, bed: TestNetwork) => Promise<Frame>])[] = [
  [/invalid signature/, async (worker) => ({ ...(await signed(worker)), signature: new Uint8Array(64) })],
  [/of another peer/, (worker, { gateway }) => signed(worker, { peer: gateway.id })],
  [/./, async () => ({ kind: 'offer', offer: Uint8Array.of(1), signature: new Uint8Array(64) })],
];
for (const [breach, make] of wrong)
  it(`an offer is a breach: ${breach}`, async () => {
    const { bed, worker } = await sessionWith();
    worker.send(await make(worker, bed));
    assert.match(await breachOf(bed), breach);
  });

const unread = { signal: NEVER, onSegment: () => {} };

describe('an answer that the client does not read', () => {
  it('is limited to its credit, and continues when it is read', async () => {
    let sent = 0;
    const send: WorkerOptions['send'] = (frame) => {
      if (frame.kind === 'tokens') sent += frame.tokens.length;
      return [frame];
    };
    const { session, worker } = await sessionWith({ send });
    const events = session.run(requestOf({ maxTokens: 5_000 }), unread)[Symbol.asyncIterator]();
    await until(() => sent === 256);
    await untilReceived(worker, session);
    // The settlement comes after any credit for what was received.
    session.settle(new Uint8Array(16), new Uint8Array(64));
    await worker.received('settle');
    assert.deepEqual([sent, worker.frames.some(({ kind }) => kind === 'credit')], [256, false]);
    let read = 0;
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.kind === 'tokens') read += next.value.tokens.length;
      assert.ok(sent - read <= 256, `${sent - read} unread`);
    }
    assert.equal(read, 5_000);
  });
  it('is dropped when it is cancelled: late tokens are not a breach, and its receipt arrives', async () => {
    const { bed, session, worker } = await sessionWith({ slots: 100, tokensPerSecond: 300 });
    const segments: number[] = [];
    for (let i = 0; i < 50; i += 1) {
      const onSegment = () => segments.push(i);
      for await (const event of session.run(requestOf({ maxTokens: 5_000 }), { signal: NEVER, onSegment }))
        if (event.kind === 'tokens') break;
    }
    await until(() => segments.length === 50);
    assert.deepEqual([session.load.own, worker.running, bed.ends.length], [0, 0, 0]);
  });
  it('is forgotten when its receipt does not arrive; a late one is not a breach', async () => {
    let isDone = false;
    let isLate = false;
    const send: WorkerOptions['send'] = (frame) => {
      // Heartbeats after the late frame show that it was received.
      if (frame.kind === 'pulse') return [{ ...frame, waiting: isLate ? 6 : 0 }];
      isDone ||= frame.kind === 'done';
      return frame.kind === 'done' ? [] : [frame];
    };
    const { session, worker } = await sessionWith({ heartbeatMs: 10, send }, { tickMs: 10 });
    for await (const event of session.run(requestOf({ maxTokens: 5_000 }), unread)) if (event.kind === 'tokens') break;
    await until(() => isDone && session.load.own === 0);
    worker.send({ kind: 'failed', id: 1, code: 'busy', message: 'late' });
    isLate = true;
    await until(() => session.load.waiting === 6);
    assert.equal(session.isAlive, true);
  });
});

const { sampling } = requestOf();
const scored = { modelSha256: MODEL, prompt: PROMPT, answer: [1, 2], hasEnd: true, sampling };
const embedded = { modelSha256: MODEL, tokens: PROMPT };

it('a session that ends fails all jobs and calls, and accepts no more', async () => {
  const { bed, session, worker } = await sessionWith({ onFrame: () => true });
  const run = async () => Array.fromAsync(session.run(requestOf(), unread));
  const pending = [run(), run(), session.score(scored, NEVER), session.vocabulary(MODEL, NEVER)];
  await until(() => worker.frames.length === 1 + pending.length);
  worker.kill();
  for (const each of pending) await assert.rejects(each, { name: 'WorkerLostError', loss: 'disconnected' });
  assert.equal(session.isAlive, false);
  await assert.rejects(session.embed(embedded, NEVER), { loss: 'disconnected' });
  await assert.rejects(run(), { loss: 'disconnected' });
  session.settle(new Uint8Array(16), new Uint8Array(64));
  assert.deepEqual(bed.ends, [{ peer: bed.peer(0), loss: 'disconnected', breach: undefined }]);
});

describe('a call', () => {
  const file = Buffer.from('GGUF'.repeat(1_000));
  const digest = hash('sha256', file);
  const giving = (change: (from: number) => Partial<FrameOf<'vocabularyPart'>>): WorkerOptions => ({
    onFrame(frame, worker) {
      if (frame.kind !== 'vocabularyAsk') return true;
      const { id, from } = frame;
      const part = file.subarray(from, from + 1_500);
      worker.send({ kind: 'vocabularyPart', id, from, sizeBytes: file.byteLength, part, ...change(from) });
      return true;
    },
  });
  it('fetches a vocabulary part by part', async () => {
    const { session } = await sessionWith(giving(() => ({})));
    assert.deepEqual(Buffer.from(await session.vocabulary(digest, NEVER)), file);
  });

  const scoring = (reply: (id: number) => Frame): WorkerOptions => ({
    onFrame(frame, worker) {
      if (frame.kind === 'score') worker.send(reply(frame.id));
      return true;
    },
  });
  const wrong: readonly (readonly [call: 'vocabulary' | 'score', breach: RegExp, WorkerOptions])[] = [
    ['vocabulary', /out of order/, giving((from) => ({ from: from + 1 }))],
    ['vocabulary', /out of order/, giving((from) => ({ sizeBytes: file.byteLength + from }))],
    ['vocabulary', /too large/, giving(() => ({ sizeBytes: 2 ** 31 }))],
    ['vocabulary', /wrong length/, giving(() => ({ part: new Uint8Array() }))],
    ['vocabulary', /wrong digest/, giving(() => ({ sizeBytes: 4, part: new Uint8Array(4) }))],
    ['score', /wrong length/, scoring((id) => ({ kind: 'scored', id, margins: [0, 0] }))],
    ['score', /another question/, scoring((id) => ({ kind: 'embedded', id, vector: [1] }))],
    ['score', /was not requested/, scoring((id) => ({ kind: 'scored', id: id + 1, margins: [0, 0, 0] }))],
  ];
  for (const [call, breach, script] of wrong)
    it(`rejects a ${call}: ${breach}`, async () => {
      const { bed, session } = await sessionWith(script);
      const asked = call === 'score' ? session.score(scored, NEVER) : session.vocabulary(digest, NEVER);
      await assert.rejects(asked, { loss: 'protocol' });
      assert.match(await breachOf(bed), breach);
    });

  it('may be aborted; a late reply is not a breach', async () => {
    const { session, worker } = await sessionWith({ onFrame: () => true });
    const stop = new AbortController();
    const asked = session.embed(embedded, stop.signal);
    await worker.received('embed');
    stop.abort(new Error('enough'));
    await assert.rejects(asked, { message: 'enough' });
    worker.send({ kind: 'embedded', id: 1, vector: [1] });
    await untilReceived(worker, session);
  });
});

it('a channel whose peer does not read ends the session', async () => {
  const broken = new AbortController();
  async function* messages() {
    yield encodeFrame({ kind: 'hello', version: 1, software: 'x', role: 'worker' });
    await once(broken.signal, 'abort');
  }
  let sent = 0;
  const send = async () => assert.ok(++sent === 1, 'its side is closed');
  const ended = Promise.withResolvers<{ readonly loss: string }>();
  const channel = { peer: 'p', messages: messages(), send, close: async () => {}, abort: () => broken.abort() };
  const options = { software: 'x', roundTripMs: () => 1, onOffer: () => {}, onEnd: ended.resolve, tickMs: 10 };
  await using session = await openWorkerSession(channel, options);
  await assert.rejects(session.embed(embedded, NEVER), { loss: 'disconnected' });
  assert.equal((await ended.promise).loss, 'disconnected');
});

async function loadedSession(options: WorkerOptions = {}) {
  const { worker, session } = await sessionWith({ slots: 4, tokensPerSecond: 100, ...options });
  return {
    session,
    /** [otherGateways, own, calls] after a heartbeat. */
    async loadAfter(running: number, waiting: number, ...jobs: FrameOf<'pulse'>['jobs']) {
      worker.send({ kind: 'pulse', running, waiting, jobs });
      await until(() => session.load.running === running);
      const { otherGateways, own, calls } = session.load;
      return [otherGateways, own, calls];
    },
    /** The rest of an answer after it has begun. */
    async begin(signal: AbortSignal) {
      const events = session.run(requestOf({ maxTokens: 5_000 }), { ...unread, signal })[Symbol.asyncIterator]();
      await events.next();
      return { [Symbol.asyncIterator]: () => events };
    },
  };
}

const writing = { id: 1, phase: 'writing' } as const;

it('the load of a worker is the reported load without our part, and our current part', async () => {
  const { session, begin, loadAfter } = await loadedSession();
  const stop = new AbortController();
  const events = await begin(stop.signal);
  assert.deepEqual(await loadAfter(4, 2, writing, { id: 77, phase: 'waiting' }), [5, 1, 0]);
  stop.abort(new Error('enough'));
  await assert.rejects(Array.fromAsync(events), { message: 'enough' });
  await until(() => session.load.own === 0);
  assert.equal(session.load.otherGateways, 5);
  // The heartbeat lists a job that has already ended: its slot is free.
  assert.deepEqual(await loadAfter(3, 0, writing), [3, 0, 0]);
  assert.equal(session.rttMs, 1, 'as it is measured elsewhere');
});
it('the load of a worker is only ours if the reported load is smaller', async () => {
  const { begin, loadAfter } = await loadedSession();
  await loadAfter(4, 0);
  await begin(NEVER);
  assert.deepEqual(await loadAfter(0, 0, writing), [0, 1, 0]);
});
it('the load of a worker does not count our calls as load of other gateways', async () => {
  const { session, loadAfter } = await loadedSession({ onFrame: ({ kind }) => kind === 'embed' });
  const stop = new AbortController();
  const asked = session.embed(embedded, stop.signal);
  assert.deepEqual(await loadAfter(3, 0), [2, 0, 1]);
  stop.abort(new Error('enough'));
  await assert.rejects(asked, { message: 'enough' });
});
