import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { compileRulebook, detect, evidenceFromRecord } from '@strata/detect';
import pino from 'pino';
import { until } from '../../../../tests/support/until.ts';
import { EventBus } from '../events.ts';
import { openStore, type ScanRecord, type Store } from '../store/index.ts';
import { withStore } from '../test/polling.ts';
import { ScanClaims } from './scan-claims.ts';
import { ScanRecorder } from './scan-recorder.ts';
import { createScanner } from './scanner.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const LEASE_MS = 300;

async function open() {
  const store = await openStore('sqlite::memory:');
  await store.domains.add(['a.com', 'b.com', 'c.com', 'd.com'], { source: 'test' });
  const clock = { at: T0 };
  const log: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void log.push(line) });
  const parts = { store, logger, now: () => new Date(clock.at) };
  const claims = new ScanClaims(parts, { limit: 3, leaseMs: LEASE_MS });
  const running = new AbortController();
  return { store, clock, log, claims, running, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

const leasedAt = async (store: Store, at: number) => (await store.inspection.figures(new Date(at))).leased;

it('the share of the schedule that a process has stays its own for as long as it works on it', async () => {
  await using opened = await open();
  const { store, clock, claims, running } = opened;
  assert.equal(await claims.take(running.signal), 'a.com');
  assert.equal(await leasedAt(store, T0 + LEASE_MS), 0);
  clock.at = T0 + LEASE_MS - 1;
  await until(async () => (await leasedAt(store, T0 + LEASE_MS)) === 3);
  // What has ended is held no longer.
  claims.end('a.com');
  clock.at = T0 + 2 * LEASE_MS;
  await until(async () => (await leasedAt(store, T0 + 2 * LEASE_MS)) === 2);
  await claims[Symbol.asyncDispose]();
});

it('the share of the schedule that a process has is given back when it stops: what was not begun at once, and the rest with its end', async () => {
  await using opened = await open();
  const { store, claims, running } = opened;
  await claims.take(running.signal);
  assert.equal(await leasedAt(store, T0), 3);
  running.abort();
  await claims.stop();
  assert.equal(await leasedAt(store, T0), 1);
  assert.equal(await claims.take(running.signal), undefined);
  await claims[Symbol.asyncDispose]();
  assert.equal(await leasedAt(store, T0), 0);
});

it('the share of the schedule that a process has is not begun if another process has it, which is logged', async () => {
  await using opened = await open();
  const { store, log, claims, running } = opened;
  await claims.take(running.signal);
  const other = { holder: 'other', limit: 8, leaseMs: 60_000 };
  assert.equal((await store.work.claimDue(other, new Date(T0 + LEASE_MS))).length, 4);
  await until(() => log.length > 0);
  assert.deepEqual(JSON.parse(log[0] ?? '').overrun, ['a.com']);
  await store.work.release('other', ['d.com']);
  assert.equal(await claims.take(running.signal), 'd.com', 'and not what stood in the queue');
  await claims[Symbol.asyncDispose]();
  assert.equal(await leasedAt(store, T0 + LEASE_MS), 3, 'other leases are kept');
});

it('the share of the schedule that a process has does not come back at once with what is not to be scanned', async () => {
  await using opened = await open();
  const { store, claims, running } = opened;
  claims.reschedule((await claims.take(running.signal)) ?? '');
  await claims[Symbol.asyncDispose]();
  assert.deepEqual(await store.domains.due(new Date(T0), 5), ['b.com', 'c.com', 'd.com']);
});

it('a process logs that a domain could not be rescheduled', async () => {
  await using opened = await open();
  const { store, claims, running, log } = opened;
  store.work.postpone = () => Promise.reject(new Error('the database does not answer'));
  claims.reschedule((await claims.take(running.signal)) ?? '');
  await claims[Symbol.asyncDispose]();
  assert.match(log.join(), /could not be rescheduled/);
});

const rulebook = compileRulebook([]);
const options = { confirmAfterMs: 1 };

function scanOf(domain: string): ScanRecord {
  const at = new Date(T0);
  const evidence = { ...evidenceFromRecord({ domain, a: [] }), observedAt: at.toISOString() };
  return { profile: detect(evidence, rulebook), evidence, startedAt: at, finishedAt: at };
}

withStore('scans in a batch are written together, in order, and each resolves after its commit', async (store) => {
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
    return (await store.domains.profile(name))?.domain;
  });
  assert.deepEqual(await Promise.all(recorded), names);
  assert.deepEqual(sizes, [64, 36]);
  await recorder.record(scanOf('alone.com'), { isAwaited: false });
  assert.ok(await store.domains.profile('alone.com'));
});

withStore('scans in a batch are overtaken by one that a request waits for', async (store) => {
  const recorder = new ScanRecorder(store, options);
  const order: string[] = [];
  const record = async (domain: string, isAwaited: boolean) => {
    await recorder.record(scanOf(domain), { isAwaited });
    order.push(domain);
  };
  const background = Array.from({ length: 500 }, (_, n) => record(`d${n}.com`, false));
  await record('wanted.com', true);
  // One batch was being written; the next begins with it.
  assert.ok(order.indexOf('wanted.com') <= 64, `${order.indexOf('wanted.com')} came before`);
  await Promise.all(background);
  assert.equal((await store.inspection.counts()).scans, 501);
});

it('scans recorded in batches are refused alone, and the complete batch if the database is unreachable', async () => {
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

withStore(
  'a scanner probes and leases no more than it may hold while the store does not record, and then all',
  async (store) => {
    const names = Array.from({ length: 40 }, (_, n) => `d${n}.com`);
    await store.domains.add(names, { source: 'test' });
    const [logger, now, concurrency] = [pino({ level: 'silent' }), () => new Date(T0), 4];
    const slow = Promise.withResolvers<void>();
    const probed: string[] = [];
    const maxLeased = 3 * concurrency;
    const recordScans: Store['recordScans'] = async (...asked) => {
      await slow.promise;
      assert.ok((await leasedAt(store, T0)) <= maxLeased);
      return store.recordScans(...asked);
    };
    const prober = {
      probe: async (domain: string) => {
        probed.push(domain);
        return scanOf(domain).evidence;
      },
    };
    await using scanner = createScanner(
      {
        ...{ store: { ...store, recordScans }, prober, rulebook, logger, now },
        ...{ isDnsWorking: async () => true, events: new EventBus(logger) },
      },
      { confirmAfterMs: 1, concurrency, onDemandConcurrency: 1, isOptedOut: () => false },
    );
    const running = new AbortController();
    const run = scanner.run(running.signal);
    await until(() => probed.length === concurrency);
    // Time to probe and to lease more, which it does not use.
    await delay(200);
    assert.deepEqual([probed.length, await leasedAt(store, T0)], [concurrency, 2 * concurrency]);
    slow.resolve();
    await until(async () => (await store.inspection.counts()).scans === names.length);
    running.abort();
    await run;
    assert.deepEqual(probed.toSorted(), names.toSorted());
  },
);
