import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openAdmission, runInSlots } from './admission.ts';

const never = new AbortController().signal;
const caller = { id: 'a', priority: 'normal' } as const;
/** Parts that run until they are ended. */
function open({ slots, queue, count }: { slots: number; queue: number; count: number }) {
  const admission = openAdmission({ slots, queue });
  const running = new Map<number, PromiseWithResolvers<void>>();
  const begun: number[] = [];
  const done = runInSlots(count, { admission, caller, signal: never }, async (part, signal) => {
    const end = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => end.reject(signal.reason), { once: true });
    running.set(part, end);
    begun.push(part);
    await end.promise.finally(() => running.delete(part));
  });
  done.catch(() => {});
  const settle = async (part?: number) => {
    if (part !== undefined) running.get(part)?.resolve();
    await new Promise(setImmediate);
  };
  return { admission, running, begun, done, settle };
}

describe('the parts of a request', () => {
  it('run in order, as many at once as there are slots', async () => {
    const { begun, running, settle, done, admission } = open({ slots: 3, queue: 0, count: 128 });
    for (let part = 0; part < 128; part += 1) {
      await settle(part - 1);
      assert.equal(running.size, Math.min(3, 128 - part));
    }
    await settle(127);
    await done;
    assert.deepEqual([begun.length, begun.every((part, i) => part === i), admission.size], [128, true, 0]);
  });

  it('leave slots to a request that waits, all but one', async () => {
    const { admission, running, settle, done } = open({ slots: 2, queue: 4, count: 9 });
    await settle();
    const waiting = [1, 2].map((n) => admission.enter(`b${n}`, never));
    await settle(0);
    using _slot = await waiting[0];
    assert.deepEqual([[...running.keys()], admission.waiting], [[1], 2]);
    for (let part = 1; part < 9; part += 1) await settle(part);
    await done;
    (await waiting[1])?.[Symbol.dispose]();
  });

  it('are refused if none gets a slot, and go on in one if only some are refused; a part that fails ends all', async () => {
    const { admission, running, settle, done } = open({ slots: 2, queue: 0, count: 5 });
    await assert.rejects(runInSlots(2, { admission, caller, signal: never }, assert.fail), /All slots are in use/);
    running.get(0)?.reject(new Error('broken'));
    await assert.rejects(done, /broken/);
    assert.equal(admission.size, 0);
    using _other = await admission.enter('b', never);
    const parts: number[] = [];
    await runInSlots(4, { admission, caller, signal: never }, async (part) => void parts.push(part));
    assert.deepEqual(parts, [0, 1, 2, 3]);
    await settle();
  });
});
