import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRulebook, detect, evidenceFromRecord } from '@strata/detect';
import { openStore, type ScanRecord } from '@strata/store';
import { ScanRecorder } from './scan-recorder.ts';

const rulebook = compileRulebook([]);
const options = { confirmAfterMs: 1 };

function scanOf(domain: string): ScanRecord {
  const at = new Date('2026-01-01T00:00:00.000Z');
  const evidence = { ...evidenceFromRecord({ domain, a: [] }), observedAt: at.toISOString() };
  return { profile: detect(evidence, rulebook), evidence, startedAt: at, finishedAt: at };
}

describe('scans on their way into the store', () => {
  it('are written together, in their order, and each is told when it is there', async () => {
    await using store = await openStore('sqlite::memory:');
    const sizes: number[] = [];
    const counting = {
      recordScans: (...[scans, how]: Parameters<typeof store.recordScans>) => {
        sizes.push(scans.length);
        return store.recordScans(scans, how);
      },
    };
    const recorder = new ScanRecorder(counting, options);
    const names = Array.from({ length: 100 }, (_, n) => `d${n}.com`);
    const recorded = names.map(async (name) => {
      await recorder.record(scanOf(name), { isAwaited: false });
      return (await store.domain(name))?.domain;
    });
    assert.deepEqual(await Promise.all(recorded), names);
    assert.deepEqual(sizes, [64, 36]);
    await recorder.record(scanOf('alone.com'), { isAwaited: false });
    assert.ok(await store.domain('alone.com'));
  });

  it('are overtaken by one that a request waits for', async () => {
    await using store = await openStore('sqlite::memory:');
    const recorder = new ScanRecorder(store, options);
    const order: string[] = [];
    const record = async (domain: string, isAwaited: boolean) => {
      await recorder.record(scanOf(domain), { isAwaited });
      order.push(domain);
    };
    const others = Array.from({ length: 500 }, (_, n) => record(`d${n}.com`, false));
    await record('wanted.com', true);
    // One batch was being written; the next begins with it.
    assert.ok(order.indexOf('wanted.com') <= 64, `${order.indexOf('wanted.com')} came before`);
    await Promise.all(others);
    assert.equal((await store.counts()).scans, 501);
  });

  it('are refused alone, and all of a batch when the database is gone', async () => {
    const store = await openStore('sqlite::memory:');
    const recorder = new ScanRecorder(store, options);
    const bad = { ...scanOf('b.com'), startedAt: new Date(Number.NaN) };
    const asked = [scanOf('a.com'), bad, scanOf('c.com')].map((scan) => recorder.record(scan, { isAwaited: false }));
    const settled = (await Promise.allSettled(asked)).map(({ status }) => status);
    assert.deepEqual(settled, ['fulfilled', 'rejected', 'fulfilled']);
    await store[Symbol.asyncDispose]();
    for (let times = 0; times < 2; times += 1)
      await assert.rejects(recorder.record(scanOf('d.com'), { isAwaited: true }));
  });
});
