import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Directory, lacksOf, type OfferedModel, PrefixMap } from '@strata/inference';
import { casesOf, randomFrom } from '../../../../../tests/support/index.ts';
import { offeredModel } from '../../test/network/answers.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { LiveFleet } from './fleet.ts';
import { ModelLoads } from './model-loads.ts';
import { WorkerSearch } from './worker-search.ts';

/** Jobs assigned in this iteration of the event loop have reached their workers in the next. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

type Load = Partial<WorkerSession['load']>;
type WorkerFacts = { model?: Partial<OfferedModel>; rttMs?: number; trust?: number };

/** Workers with simulated connections; everything else is real. */
function world(facts: Readonly<Record<string, WorkerFacts>>) {
  const time = { nowMs: 1_800_000_000_000 };
  const directory = new Directory();
  const sessions = new Map<string, WorkerSession>();
  const trusts = new Map<string, number>();
  const connect = (peer: string, { model = {}, rttMs = 10, trust = 1 }: WorkerFacts = {}) => {
    const load = { running: 0, waiting: 0, otherGateways: 0, own: 0, writing: 0, calls: 0 };
    trusts.set(peer, trust);
    sessions.set(peer, { peer, load, rttMs, isAlive: true } as Partial<WorkerSession> as WorkerSession);
    const offer = { peer, sequence: time.nowMs++, issuedAtMs: time.nowMs, expiresAtMs: time.nowMs + 120_000 };
    const models = [offeredModel(model)];
    directory.take({ ...offer, software: 's', running: 0, waiting: 0, models }, { ...time, isConnected: true });
  };
  for (const [peer, each] of Object.entries(facts)) connect(peer, each);
  const trust = { of: (peer: string) => trusts.get(peer) ?? 0 };
  const known = { sessions, directory, trust, prefixes: new PrefixMap(), loads: new ModelLoads(() => time.nowMs) };
  const fleet = new LiveFleet(offeredModel(), { ...known, random: randomFrom(7), nowMs: () => time.nowMs });
  const load = (peer: string, change: Load) => Object.assign(sessions.get(peer)?.load ?? {}, change);
  const lose = (peer: string) => Object.assign(sessions.get(peer) ?? {}, { isAlive: false });
  const choose = (wanted: Parameters<LiveFleet['choose']>[0] = job, except: readonly string[] = []) =>
    fleet.choose(wanted, { except: new Set(except) });
  const chosen = (wanted = job, ...except: readonly string[]) => choose(wanted, except)?.session.peer;
  const expectedMs = (wanted = fresh) => choose(wanted)?.expectedFirstTokenMs ?? 0;
  const serve = (peer: string, change: Partial<Parameters<LiveFleet['noteServed']>[0]> = {}) =>
    fleet.noteServed({
      ...{ peer, promptTokens: 1_000, cachedTokens: 0, firstTokenMs: 1_010, decodeMs: 1_980, concurrentAnswers: 1 },
      ...{ made: 100, tokens: prompt, ...change },
    });
  return { fleet, time, sessions, trusts, lose, connect, load, choose, chosen, expectedMs, serve };
}

const prompt: readonly number[] = Array.from({ length: 1_000 }, (_, i) => i);
const given: readonly number[] = [];
const job = { prompt, given };
/** A prompt that no worker has read. */
const fresh = { prompt: prompt.map((token) => token + 50_000), given };

describe('live fleet', () => {
  it('never expects less than timer granularity', () =>
    assert.equal(world({ fast: { rttMs: 0 } }).expectedMs({ prompt: [1], given }), 50));

  it('has only workers of its file and vocabulary, while they are alive and trusted', () => {
    const { fleet, trusts, lose, sessions, chosen } = world({
      ...{ a: {}, b: {}, quarantined: { trust: 0 } },
      'other file': { model: { sha256: 'dd'.repeat(32) } },
      'other vocabulary': { model: { vocabularySha256: 'dd'.repeat(32) } },
    });
    assert.deepEqual([fleet.slots, chosen(job, 'a'), chosen(job, 'a', 'b')], [8, 'b', undefined]);
    // Before a refresh, lost and quarantined workers are not chosen.
    trusts.set('a', 0);
    assert.equal(chosen(), 'b');
    lose('b');
    assert.equal(chosen(), undefined);
    fleet.refresh();
    assert.deepEqual([fleet.slots, fleet.isReady], [0, false]);
    trusts.set('a', 1);
    sessions.delete('b');
    fleet.refresh();
    assert.deepEqual([fleet.slots, fleet.isReady], [4, true]);
  });
  it('returns a conversation to the worker of the last answer, unless it is busy or was lost', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`w${i}`, {}]));
    const { fleet, load, time, chosen, serve } = world(many);
    serve('w33');
    const next = { prompt: [...prompt, 5, 6, 7], given };
    for (let i = 0; i < 10; i++) {
      assert.equal(chosen(next), 'w33');
      await nextTurn();
    }
    load('w33', { own: 5 });
    assert.notEqual(chosen(next), 'w33');
    load('w33', { own: 0 });
    fleet.noteLost('w33', 'engine-failed');
    // After reconnecting, it has to read the prompt like any other worker.
    time.nowMs += 2_000;
    assert.notEqual(chosen(next), 'w33');
  });

  type Assignment = readonly [why: string, a: Load, b: Load, chosen: string];
  const loads = casesOf<readonly Assignment[]>('gateway', 'assignments');
  for (const [why, a, b, expected] of loads)
    it(`assigns a worker ${why}`, () => {
      const { load, choose } = world({ a: {}, b: { rttMs: 900 } });
      load('a', a);
      load('b', b);
      const { session, expectedFirstTokenMs } = choose() ?? assert.fail();
      assert.equal(`${session.peer} after ${expectedFirstTokenMs} ms`, expected);
    });

  it('counts jobs of the same iteration before they have reached their worker', async () => {
    const { chosen } = world({ one: {}, two: {} });
    const turn = () => Array.from({ length: 8 }, () => chosen(fresh)).filter((peer) => peer === 'one').length;
    assert.equal(turn(), 4);
    await nextTurn();
    assert.equal(turn(), 4, 'they are forgotten with the turn');
  });
  it('counts a job once that has reached its worker within the iteration', () => {
    const { load, chosen } = world({ one: {}, two: {} });
    load('one', { own: 4 });
    for (let own = 1; own <= 4; own++) {
      assert.equal(chosen(fresh), 'two', `job ${own}`);
      load('two', { own });
    }
  });

  it('caps claims of a million slots or a billion tokens per second', () => {
    const model = { slots: 10_000, prefillTokensPerSecond: 1e9, decodeTokensPerSecond: 1e9 };
    const { fleet, expectedMs, serve } = world({ liar: { model } });
    assert.equal(fleet.slots, 4);
    assert.ok(expectedMs() > 50);
    // Measurements are used immediately.
    serve('liar', { firstTokenMs: 20_010 });
    assert.ok(expectedMs() >= 20_000);
    // Four concurrently, but the fourth began only when another one had ended.
    serve('liar', { concurrentAnswers: 4, firstTokenMs: 120_000 });
    assert.equal(fleet.slots, 4);
  });

  it('increases slots with use, up to the offered number; waiting jobs do not count', () => {
    const { fleet, load, serve } = world({ large: { model: { slots: 6 } } });
    load('large', { own: 40 });
    const slots = [1, 2, 4, 4, 5, 6, 7].map((concurrentAnswers) => {
      serve('large', { concurrentAnswers });
      return fleet.slots;
    });
    assert.deepEqual(slots, [4, 4, 5, 5, 6, 6, 6]);
  });

  it('remembers its measurements of a worker that reconnects with a better offer', () => {
    const { fleet, sessions, connect, expectedMs, serve } = world({ w: {} });
    serve('w', { firstTokenMs: 10_010 });
    const before = expectedMs();
    assert.ok(before >= 10_000);
    sessions.delete('w');
    fleet.refresh();
    connect('w', { model: { prefillTokensPerSecond: 1e9 } });
    fleet.refresh();
    assert.equal(expectedMs(), before);
  });

  it('gives a single answer little weight after the first measurement', () => {
    const { expectedMs, serve } = world({ w: {} });
    const expectedAfter = (firstTokenMs: number) => {
      serve('w', { firstTokenMs });
      return Math.round(expectedMs()) - 30;
    };
    assert.equal(expectedAfter(1_010), 1_000);
    assert.equal(expectedAfter(100_010), Math.round(1_000 / 0.802));
    assert.ok(expectedAfter(510) > 800);
  });

  it('does not measure speed from tokens that were held back and sent at once', () => {
    const { choose, serve } = world({ w: {} });
    const speed = () => choose()?.decodeTokensPerSecond ?? 0;
    serve('w', { decodeMs: 0.5 });
    assert.equal(speed(), 50 + 0.2 * (300 - 50));
    for (let i = 0; i < 8; i++) serve('w');
    assert.ok(speed() < 60, `${speed()}`);
  });

  for (const loss of ['stalled', 'unusable', 'grammar-unusable'])
    it(`backs off from a failed worker, and retries with one job: ${loss}`, () => {
      const { fleet, time, choose, serve } = world({ w: {} });
      const areChosen = (afterMs = 0) => {
        time.nowMs += afterMs;
        return [choose(), choose()].map(Boolean);
      };
      for (let i = 0; i < 20; i++) fleet.noteLost('w', loss);
      assert.deepEqual(areChosen(), [false, false]);
      assert.deepEqual(areChosen(751), [true, false]);
      serve('w');
      assert.deepEqual(areChosen(), [true, true]);
      fleet.noteLost('w', loss);
      assert.deepEqual(areChosen(751), [true, false]);
      fleet.noteAnswered('w');
      assert.deepEqual(areChosen(), [true, true], 'also after the answer to a call');
    });

  it('sends jobs to a worker whose probe has no outcome for two seconds, if there is no other', async () => {
    const { fleet, time, choose } = world({ w: {} });
    fleet.noteLost('w', 'stalled');
    time.nowMs += 751;
    assert.ok(choose(), 'the probe; its client leaves');
    const [sinceMs, nowMs] = [time.nowMs, () => time.nowMs];
    const sleep = async (ms: number) => {
      time.nowMs += ms;
    };
    const search = new WorkerSearch(fleet, { timeoutMs: 10_000, nowMs, sleep });
    const { session } = await search.next(job, new AbortController().signal);
    const waitedMs = time.nowMs - sinceMs;
    assert.ok(session.peer === 'w' && waitedMs >= 2_000 && waitedMs <= 2_250, `${waitedMs} ms`);
  });

  it('does not count refusals as failures', () => {
    const { fleet, time, choose, serve } = world({ w: {} });
    for (let i = 0; i < 9; i++) fleet.noteLost('w', 'busy');
    assert.equal(choose(), undefined);
    time.nowMs += 250;
    assert.deepEqual([choose(), choose()].map(Boolean), [true, true]);
    fleet.noteLost('w', 'full');
    assert.ok(choose());
    const textOnly = world({ w: { model: { lacks: lacksOf(['continuation']) } } });
    for (let i = 0; i < 9; i++) textOnly.fleet.noteLost('w', 'unusable');
    assert.ok(textOnly.choose(), 'another prompt may be that of a text');
    fleet.noteLost('w', 'leaving');
    serve('w');
    time.nowMs += 9_998;
    assert.equal(choose(), undefined);
  });

  it('respects the context length of each worker', () => {
    const { choose, chosen } = world({ small: { model: { contextLength: 1_000 } }, large: { rttMs: 900 } });
    const small = choose({ prompt: prompt.slice(0, 999), given });
    assert.deepEqual([small?.session.peer, small?.contextLength], ['small', 1_000]);
    assert.equal(chosen(), 'large');
    assert.equal(chosen({ prompt: prompt.slice(0, 900), given: prompt.slice(0, 100) }), 'large');
  });
});
