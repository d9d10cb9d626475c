import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Directory, type OfferedModel, PrefixMap } from '@strata/inference';
import { LiveFleet } from './live-fleet.ts';
import type { SessionLoad, WorkerSession } from './worker-session.ts';

const SHA = 'aa'.repeat(32);
const VOCABULARY = 'bb'.repeat(32);
/** What was chosen in this turn of the event loop has reached its worker in the next. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

type Wanted = Parameters<LiveFleet['choose']>[0];

interface WorkerFacts {
  readonly model?: Partial<OfferedModel>;
  readonly rttMs?: number;
  readonly trust?: number;
}

/** Workers whose connections are simulated; all else is real. */
function world(facts: Readonly<Record<string, WorkerFacts>>) {
  const time = { nowMs: 1_800_000_000_000 };
  let state = 7;
  const random = () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
  const directory = new Directory();
  const prefixes = new PrefixMap();
  const sessions = new Map<string, WorkerSession>();
  const loads = new Map<string, { -readonly [Key in keyof SessionLoad]: number }>();
  const trusts = new Map<string, number>();
  const alive = new Set<string>();
  const offer = (peer: string, model: Partial<OfferedModel> = {}) =>
    directory.take(
      {
        ...{ peer, sequence: time.nowMs++, issuedAtMs: time.nowMs, expiresAtMs: time.nowMs + 120_000 },
        ...{ software: 'strata', running: 0, waiting: 0 },
        models: [
          {
            ...{ name: 'chat', sha256: SHA, vocabularySha256: VOCABULARY, templateSha256: SHA },
            ...{ architecture: 'llama', quantisation: 'Q8_0', sizeBytes: 1, parameters: 1, contextLength: 4_096 },
            ...{ vocabularySize: 1_000, longestToken: 16, slots: 4, engine: 'simulated' },
            ...{ prefillTokensPerSecond: 1_000, decodeTokensPerSecond: 50 },
            ...model,
          },
        ],
      },
      { nowMs: time.nowMs, isConnected: true },
    );
  const connect = (peer: string, { model, rttMs = 10, trust = 1 }: WorkerFacts = {}) => {
    const load = { running: 0, waiting: 0, others: 0, own: 0, writing: 0, calls: 0 };
    const unused = () => assert.fail('the fleet asks sessions for nothing');
    loads.set(peer, load);
    trusts.set(peer, trust);
    alive.add(peer);
    sessions.set(peer, {
      ...{ peer, load, rttMs, run: unused, score: unused, embed: unused, vocabulary: unused, settle: unused },
      get isAlive() {
        return alive.has(peer);
      },
      async [Symbol.asyncDispose]() {},
    });
    offer(peer, model);
  };
  for (const [peer, each] of Object.entries(facts)) connect(peer, each);
  const fleet = new LiveFleet(
    { sha256: SHA, vocabularySha256: VOCABULARY },
    {
      ...{ sessions, directory, prefixes, random, nowMs: () => time.nowMs },
      trust: { of: (peer) => trusts.get(peer) ?? 0 },
    },
  );
  const loadOf = (peer: string) => loads.get(peer) ?? assert.fail(peer);
  const choose = (wanted: Wanted = job, except: readonly string[] = []) =>
    fleet.choose(wanted, { except: new Set(except) });
  const chosen = (wanted?: Wanted, except?: readonly string[]) => choose(wanted, except)?.session.peer;
  const expectedMs = (wanted: Wanted = job) => choose(wanted)?.expectedFirstTokenMs ?? 0;
  return { fleet, time, sessions, trusts, alive, connect, loadOf, choose, chosen, expectedMs };
}

const prompt = Array.from({ length: 1_000 }, (_, i) => i);
const job = { prompt, given: [] };
/** Nobody has read any of it. */
const fresh = { prompt: prompt.map((token) => token + 50_000), given: [] };
const served = (peer: string) => ({
  ...{ peer, promptTokens: 1_000, cachedTokens: 0, firstTokenMs: 1_010, decodeMs: 1_980, sideBySide: 1, made: 100 },
  tokens: prompt,
});

describe('live fleet', () => {
  it('chooses the worker whose first token is expected soonest, and says when that is', async () => {
    const { chosen, expectedMs } = world({ near: {}, far: { rttMs: 500 } });
    for (let i = 0; i < 20; i++) {
      assert.equal(chosen(), 'near');
      await nextTurn();
    }
    assert.equal(expectedMs(), 1_030);
    assert.equal(chosen(job, ['near']), 'far');
    assert.equal(chosen(job, ['near', 'far']), undefined);
  });

  it('never expects so little that a timer would be late', () => {
    const { expectedMs } = world({ fast: { rttMs: 0 } });
    assert.equal(expectedMs({ prompt: [1], given: [] }), 50);
  });

  it('has the workers of its file and vocabulary alone, while they are alive and trusted', () => {
    const { fleet, trusts, alive, sessions, chosen } = world({
      ...{ a: {}, b: {}, quarantined: { trust: 0 } },
      'other file': { model: { sha256: 'dd'.repeat(32) } },
      'other vocabulary': { model: { vocabularySha256: 'dd'.repeat(32) } },
    });
    assert.equal(fleet.slots, 8);
    // Before a refresh, no worker that is lost or quarantined is chosen.
    trusts.set('a', 0);
    assert.equal(chosen(), 'b');
    alive.delete('b');
    assert.equal(chosen(), undefined);
    fleet.refresh();
    assert.deepEqual([fleet.slots, fleet.isReady], [0, false]);
    trusts.set('a', 1);
    sessions.delete('b');
    fleet.refresh();
    assert.deepEqual([fleet.slots, fleet.isReady], [4, true]);
  });

  it('returns a conversation to the worker of the last answer, unless it is busy or was lost', async () => {
    const { fleet, loadOf, time, chosen } = world(
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`w${i}`, {}])),
    );
    fleet.noteServed(served('w33'));
    const next = { prompt: [...prompt, 5, 6, 7], given: [] };
    for (let i = 0; i < 10; i++) {
      assert.equal(chosen(next), 'w33');
      await nextTurn();
    }
    loadOf('w33').own = 5;
    assert.notEqual(chosen(next), 'w33');
    loadOf('w33').own = 0;
    fleet.noteLost('w33', 'engine-failed');
    // Once it is back, it has to read the prompt like any other.
    time.nowMs += 2_000;
    assert.notEqual(chosen(next), 'w33');
  });

  it('gives no worker more than its slots while another has one free, and the soonest where none has', () => {
    const { loadOf, choose, chosen } = world({ fast: { model: { decodeTokensPerSecond: 200 } }, slow: { rttMs: 900 } });
    loadOf('fast').own = 4;
    assert.equal(chosen(), 'slow');
    loadOf('slow').others = 4;
    const last = choose();
    assert.equal(last?.session.peer, 'fast');
    assert.ok(last.expectedFirstTokenMs > 1_200);
  });

  it('uses a slot that an answer of ours has left, whatever the last pulse says', () => {
    const { loadOf, chosen } = world({ left: {}, busy: {} });
    loadOf('busy').own = 4;
    Object.assign(loadOf('left'), { running: 4, waiting: 2, others: 3 });
    assert.equal(chosen(), 'left');
    assert.equal(chosen(job, ['left']), 'busy');
  });

  it('does not count calls as jobs', () => {
    const { loadOf, chosen } = world({ near: {}, far: { rttMs: 500 } });
    Object.assign(loadOf('near'), { own: 3, calls: 2 });
    assert.equal(chosen(), 'near');
  });

  it('counts jobs of the same turn before they have reached their worker', async () => {
    const { chosen } = world({ one: {}, two: {} });
    const turn = () => Array.from({ length: 8 }, () => chosen(fresh)).filter((peer) => peer === 'one').length;
    assert.equal(turn(), 4);
    await nextTurn();
    assert.equal(turn(), 4, 'they are forgotten with the turn');
  });

  it('counts a job once that has reached its worker within the turn', () => {
    const { loadOf, chosen } = world({ one: {}, two: {} });
    loadOf('one').own = 4;
    for (let given = 1; given <= 4; given++) {
      assert.equal(chosen(fresh), 'two', `job ${given}`);
      loadOf('two').own = given;
    }
  });

  it('does not believe a million slots, nor a billion tokens a second', () => {
    const model = { slots: 10_000, prefillTokensPerSecond: 1e9, decodeTokensPerSecond: 1e9 };
    const { fleet, expectedMs } = world({ liar: { model } });
    assert.equal(fleet.slots, 4);
    assert.ok(expectedMs(fresh) > 50);
    // What is measured is believed at once.
    fleet.noteServed({ ...served('liar'), firstTokenMs: 20_010 });
    assert.ok(expectedMs(fresh) >= 20_000);
    // Four concurrently, but the fourth began only when another one had ended.
    fleet.noteServed({ ...served('liar'), sideBySide: 4, firstTokenMs: 120_000 });
    assert.equal(fleet.slots, 4);
  });

  it('believes more slots as they are used, up to what is offered', () => {
    const { fleet } = world({ large: { model: { slots: 6 } } });
    const slots = [2, 4, 4, 5, 6, 7].map((sideBySide) => {
      fleet.noteServed({ ...served('large'), sideBySide });
      return fleet.slots;
    });
    assert.deepEqual(slots, [4, 5, 5, 6, 6, 6]);
  });

  it('does not count waiting jobs as concurrent', () => {
    const { fleet, loadOf } = world({ w: { model: { slots: 256 } } });
    loadOf('w').own = 40;
    fleet.noteServed(served('w'));
    assert.equal(fleet.slots, 4);
  });

  it('remembers its measurements of a worker that reconnects with a better offer', () => {
    const { fleet, sessions, connect, expectedMs } = world({ w: {} });
    fleet.noteServed({ ...served('w'), firstTokenMs: 10_010 });
    const before = expectedMs(fresh);
    assert.ok(before >= 10_000);
    sessions.delete('w');
    fleet.refresh();
    connect('w', { model: { prefillTokensPerSecond: 1e9 } });
    fleet.refresh();
    assert.equal(expectedMs(fresh), before);
  });

  it('gives one answer little weight once it has measured, whether it was fast or slow', () => {
    const { fleet, expectedMs } = world({ w: {} });
    const expectedAfter = (firstTokenMs: number) => {
      fleet.noteServed({ ...served('w'), firstTokenMs });
      return Math.round(expectedMs(fresh)) - 30;
    };
    assert.equal(expectedAfter(1_010), 1_000);
    assert.equal(expectedAfter(100_010), Math.round(1_000 / 0.802));
    assert.ok(expectedAfter(510) > 800);
  });

  it('does not believe the speed of tokens that were held back and sent at once', () => {
    const { fleet, choose } = world({ w: {} });
    const speed = () => choose()?.decodeTokensPerSecond ?? 0;
    fleet.noteServed({ ...served('w'), decodeMs: 0.5 });
    assert.equal(speed(), 50 + 0.2 * (300 - 50));
    for (let i = 0; i < 8; i++) fleet.noteServed(served('w'));
    assert.ok(speed() < 60, `${speed()}`);
  });

  it('backs off from a worker that failed, longer each time, and tries it with one job', () => {
    const { fleet, time, choose } = world({ w: {} });
    const areChosen = () => [choose(), choose()].map(Boolean);
    for (let i = 0; i < 20; i++) fleet.noteLost('w', 'stalled');
    assert.equal(choose(), undefined);
    time.nowMs += 751;
    assert.deepEqual(areChosen(), [true, false]);
    fleet.noteLost('w', 'gone');
    time.nowMs += 499;
    assert.equal(choose(), undefined);
    time.nowMs += 1_002;
    assert.deepEqual(areChosen(), [true, false]);
    fleet.noteServed(served('w'));
    assert.deepEqual(areChosen(), [true, true]);
    fleet.noteLost('w', 'stalled');
    time.nowMs += 751;
    assert.deepEqual(areChosen(), [true, false]);
    fleet.noteAnswered('w');
    assert.deepEqual(areChosen(), [true, true], 'also after the answer to a call');
  });

  it('does not count refusals as failures', () => {
    const { fleet, time, choose } = world({ w: {} });
    for (let i = 0; i < 9; i++) fleet.noteLost('w', 'busy');
    assert.equal(choose(), undefined);
    time.nowMs += 250;
    assert.deepEqual([choose(), choose()].map(Boolean), [true, true]);
    fleet.noteLost('w', 'full');
    assert.ok(choose());
    fleet.noteLost('w', 'leaving');
    fleet.noteServed(served('w'));
    time.nowMs += 9_998;
    assert.equal(choose(), undefined);
  });

  for (const loss of ['unusable', 'grammar-unusable'])
    it(`backs off from a worker that refused what it could do: ${loss}`, () => {
      const { fleet, choose } = world({ w: {} });
      fleet.noteLost('w', loss);
      assert.equal(choose(), undefined);
    });

  it('asks no worker for more than its own context, whatever the others offer', () => {
    const { choose, chosen } = world({ small: { model: { contextLength: 1_000 } }, large: { rttMs: 900 } });
    const small = choose({ prompt: prompt.slice(0, 999), given: [] });
    assert.deepEqual([small?.session.peer, small?.contextLength], ['small', 1_000]);
    assert.equal(chosen(), 'large');
    assert.equal(chosen({ prompt: prompt.slice(0, 900), given: prompt.slice(0, 100) }), 'large');
  });
});
