// The load of a worker in its session: ours by the jobs and calls under way, that of others by the pulses of the worker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FrameOf } from '@strata/inference';
import { job, MODEL, NEVER, PROMPT, until } from '../test/network/answers.ts';
import type { NetworkBed } from '../test/network/network-bed.ts';
import type { ScriptedWorker } from '../test/network/scripted-worker.ts';
import { connect, freshBed, type WorkerOptions } from '../test/network/shared-bed.ts';
import type { SessionEvent } from './worker-session.ts';

let bed: NetworkBed;
/** It pulses only when the test says so. */
async function started(options: WorkerOptions = {}): Promise<ScriptedWorker> {
  bed = await freshBed({ tickMs: 60_000 });
  return connect(bed, 0, { slots: 4, tokensPerSecond: 100, pulseMs: 3_600_000, ...options });
}

async function loadAfter(worker: ScriptedWorker, pulse: Omit<FrameOf<'pulse'>, 'kind'>) {
  worker.say({ kind: 'pulse', ...pulse });
  await until(() => bed.session().load.running === pulse.running);
  const { others, own, calls } = bed.session().load;
  return { others, own, calls };
}

async function begun(signal: AbortSignal): Promise<AsyncIterator<SessionEvent>> {
  const { prompt, given, replay, sampling } = job();
  const asked = { prompt, given, replay, maxTokens: 5_000, sampling: { ...sampling, logitBias: [] } };
  const request = { nonce: crypto.getRandomValues(new Uint8Array(16)), modelSha256: MODEL, ...asked };
  const events = bed
    .session()
    .run(request, { signal, onSegment: () => {} })
    [Symbol.asyncIterator]();
  await events.next();
  return events;
}

async function readToItsEnd(events: AsyncIterator<SessionEvent>): Promise<void> {
  for (let next = await events.next(); !next.done; next = await events.next());
}

describe('the load of a worker', () => {
  const writing = (id: number) => ({ id, phase: 'writing' }) as const;

  it('is what it says, less what of it is ours, and what is ours now', async () => {
    const worker = await started();
    const stop = new AbortController();
    const events = await begun(stop.signal);
    const strange = { id: 77, phase: 'waiting' } as const;
    const pulse = { running: 4, waiting: 2, jobs: [writing(1), strange] };
    assert.deepEqual(await loadAfter(worker, pulse), { others: 5, own: 1, calls: 0 });
    stop.abort(new Error('enough'));
    await assert.rejects(readToItsEnd(events), { message: 'enough' });
    await until(() => bed.session().load.own === 0);
    assert.equal(bed.session().load.others, 5);
    // It lists one of which all has been heard: its place is free.
    assert.deepEqual(await loadAfter(worker, { running: 3, waiting: 0, jobs: [writing(1)] }), {
      ...{ others: 3, own: 0, calls: 0 },
    });
  });

  it('is ours alone where it says less than that', async () => {
    const worker = await started();
    await loadAfter(worker, { running: 4, waiting: 0, jobs: [] });
    await begun(NEVER);
    assert.deepEqual(await loadAfter(worker, { running: 0, waiting: 0, jobs: [writing(1)] }), {
      ...{ others: 0, own: 1, calls: 0 },
    });
  });

  it('has no question of ours among that of others', async () => {
    const worker = await started({ hear: ({ kind }) => kind === 'embed' });
    const stop = new AbortController();
    const asked = bed.session().embed({ modelSha256: MODEL, tokens: PROMPT }, stop.signal);
    const pulse = { running: 3, waiting: 0, jobs: [] };
    assert.deepEqual(await loadAfter(worker, pulse), { others: 2, own: 0, calls: 1 });
    stop.abort(new Error('enough'));
    await assert.rejects(asked, { message: 'enough' });
  });
});
