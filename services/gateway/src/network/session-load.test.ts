// The load of a worker in its session: ours by the jobs and calls under way, that of others by the pulses of the worker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FrameOf } from '@strata/inference';
import { MODEL, NEVER, PROMPT, until } from '../test/network/answers.ts';
import { requestOf, sessionWith, type WorkerOptions } from '../test/network/shared-bed.ts';

async function loadedSession(options: WorkerOptions = {}) {
  const { worker, session } = await sessionWith({ slots: 4, tokensPerSecond: 100, ...options });
  return {
    session,
    /** [others, own, calls] after a pulse. */
    async loadAfter(running: number, waiting: number, ...jobs: FrameOf<'pulse'>['jobs']) {
      worker.say({ kind: 'pulse', running, waiting, jobs });
      await until(() => session.load.running === running);
      const { others, own, calls } = session.load;
      return [others, own, calls];
    },
    /** Gives what is left of an answer once it has begun. */
    async begin(signal: AbortSignal) {
      const events = session.run(requestOf({ maxTokens: 5_000 }), { signal, onSegment: () => {} });
      const iterator = events[Symbol.asyncIterator]();
      await iterator.next();
      return { [Symbol.asyncIterator]: () => iterator };
    },
  };
}

describe('the load of a worker', () => {
  const writing = { id: 1, phase: 'writing' } as const;

  it('is what it says, less what of it is ours, and what is ours now', async () => {
    const { session, begin, loadAfter } = await loadedSession();
    const stop = new AbortController();
    const events = await begin(stop.signal);
    assert.deepEqual(await loadAfter(4, 2, writing, { id: 77, phase: 'waiting' }), [5, 1, 0]);
    stop.abort(new Error('enough'));
    await assert.rejects(Array.fromAsync(events), { message: 'enough' });
    await until(() => session.load.own === 0);
    assert.equal(session.load.others, 5);
    // It lists a job whose end has been received: that slot is free.
    assert.deepEqual(await loadAfter(3, 0, writing), [3, 0, 0]);
    assert.equal(session.rttMs, 1, 'as it is measured elsewhere');
  });

  it('is ours alone where it says less than that', async () => {
    const { begin, loadAfter } = await loadedSession();
    await loadAfter(4, 0);
    await begin(NEVER);
    assert.deepEqual(await loadAfter(0, 0, writing), [0, 1, 0]);
  });

  it('counts no call of ours among those of others', async () => {
    const { session, loadAfter } = await loadedSession({ hear: ({ kind }) => kind === 'embed' });
    const stop = new AbortController();
    const asked = session.embed({ modelSha256: MODEL, tokens: PROMPT }, stop.signal);
    assert.deepEqual(await loadAfter(3, 0), [2, 0, 1]);
    stop.abort(new Error('enough'));
    await assert.rejects(asked, { message: 'enough' });
  });
});
