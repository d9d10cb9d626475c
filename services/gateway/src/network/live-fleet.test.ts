import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Directory, type OfferedModel, PrefixMap } from '@strata/inference';
import { LiveFleet } from './live-fleet.ts';
import type { SessionLoad, WorkerSession } from './worker-session.ts';

const SHA = 'aa'.repeat(32);
const VOCABULARY = 'bb'.repeat(32);
const nobody: ReadonlySet<string> = new Set();
/** What was chosen in this turn of the event loop has reached its worker in the next. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

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
  return { fleet, time, sessions, directory, trusts, alive, offer, connect, loadOf };
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
  it('asks the worker from which the first token is expected soonest, and tells when', async () => {
    const { fleet } = world({ near: {}, far: { rttMs: 500 } });
    for (let i = 0; i < 20; i++) {
      assert.equal(fleet.choose(job, { except: nobody })?.session.peer, 'near');
      await nextTurn();
    }
    assert.equal(fleet.choose(job, { except: nobody })?.expectedFirstTokenMs, 1_030);
    assert.equal(fleet.choose(job, { except: new Set(['near']) })?.session.peer, 'far');
    assert.equal(fleet.choose(job, { except: new Set(['near', 'far']) }), undefined);
  });

  it('never expects so little that a timer would be late', () => {
    const { fleet } = world({ fast: { rttMs: 0 } });
    assert.equal(fleet.choose({ prompt: [1], given: [] }, { except: nobody })?.expectedFirstTokenMs, 50);
  });

  it('has those of its file and vocabulary alone, as long as they live and are trusted', () => {
    const { fleet, trusts, alive, sessions } = world({
      ...{ a: {}, b: {}, quarantined: { trust: 0 } },
      'other file': { model: { sha256: 'dd'.repeat(32) } },
      'other vocabulary': { model: { vocabularySha256: 'dd'.repeat(32) } },
    });
    assert.equal(fleet.slots, 8);
    // Before anybody refreshes, nobody who is gone or caught is asked.
    trusts.set('a', 0);
    assert.equal(fleet.choose(job, { except: nobody })?.session.peer, 'b');
    alive.delete('b');
    assert.equal(fleet.choose(job, { except: nobody }), undefined);
    fleet.refresh();
    assert.deepEqual([fleet.slots, fleet.isReady], [0, false]);
    trusts.set('a', 1);
    sessions.delete('b');
    fleet.refresh();
    assert.deepEqual([fleet.slots, fleet.isReady], [4, true]);
  });

  it('returns a conversation to the worker that made the last answer, also when that one says nothing of it', async () => {
    const facts = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`w${i}`, {}]));
    const { fleet, loadOf, time } = world(facts);
    fleet.noteServed(served('w33'));
    const next = { prompt: [...prompt, 5, 6, 7], given: [] };
    for (let i = 0; i < 10; i++) {
      assert.equal(fleet.choose(next, { except: nobody })?.session.peer, 'w33');
      await nextTurn();
    }
    loadOf('w33').own = 5;
    assert.notEqual(fleet.choose(next, { except: nobody })?.session.peer, 'w33');
    loadOf('w33').own = 0;
    fleet.noteLost('w33', 'engine-failed');
    // Back again, it has to read it like any other.
    time.nowMs += 2_000;
    assert.notEqual(fleet.choose(next, { except: nobody })?.session.peer, 'w33');
  });

  it('sends nobody more than its slots while another has one free, and the soonest when none has', () => {
    const { fleet, loadOf } = world({ fast: { model: { decodeTokensPerSecond: 200 } }, slow: { rttMs: 900 } });
    loadOf('fast').own = 4;
    assert.equal(fleet.choose(job, { except: nobody })?.session.peer, 'slow');
    loadOf('slow').others = 4;
    const chosen = fleet.choose(job, { except: nobody });
    assert.equal(chosen?.session.peer, 'fast');
    assert.ok(chosen.expectedFirstTokenMs > 1_200);
  });

  it('takes a place that answers of ours have left for free, whatever the last pulse said of them', () => {
    const { fleet, loadOf } = world({ left: {}, busy: {} });
    loadOf('busy').own = 4;
    Object.assign(loadOf('left'), { running: 4, waiting: 2, others: 3 });
    assert.equal(fleet.choose(job, { except: nobody })?.session.peer, 'left');
    assert.equal(fleet.choose(job, { except: new Set(['left']) })?.session.peer, 'busy');
  });

  it('goes nowhere else for a score that is being made', () => {
    const { fleet, loadOf } = world({ near: {}, far: { rttMs: 500 } });
    Object.assign(loadOf('near'), { own: 3, calls: 2 });
    assert.equal(fleet.choose(job, { except: nobody })?.session.peer, 'near');
  });

  it('counts jobs that were given in the same turn, before they have reached their worker', async () => {
    const { fleet } = world({ one: {}, two: {} });
    const turn = () => Array.from({ length: 8 }, () => fleet.choose(fresh, { except: nobody })?.session.peer);
    const asked = turn();
    assert.deepEqual(
      ['one', 'two'].map((peer) => asked.filter((each) => each === peer).length),
      [4, 4],
    );
    await nextTurn();
    assert.equal(turn().filter((peer) => peer === 'one').length, 4, 'what was given is forgotten with the turn');
  });

  it('counts a job once that has reached its worker in the turn in which it was given', () => {
    const { fleet, loadOf } = world({ one: {}, two: {} });
    loadOf('one').own = 4;
    for (let given = 1; given <= 4; given++) {
      assert.equal(fleet.choose(fresh, { except: nobody })?.session.peer, 'two', `job ${given}`);
      loadOf('two').own = given;
    }
  });

  it('does not believe a million slots, nor a billion tokens a second', () => {
    const { fleet } = world({
      liar: { model: { slots: 10_000, prefillTokensPerSecond: 1e9, decodeTokensPerSecond: 1e9 } },
    });
    assert.equal(fleet.slots, 4);
    const expected = () => fleet.choose(fresh, { except: nobody })?.expectedFirstTokenMs ?? 0;
    assert.ok(expected() > 50);
    // What it really does is believed at once.
    fleet.noteServed({ ...served('liar'), firstTokenMs: 20_010 });
    assert.ok(expected() >= 20_000);
    // Four side by side, but the fourth began only when another one was over.
    fleet.noteServed({ ...served('liar'), sideBySide: 4, firstTokenMs: 120_000 });
    assert.equal(fleet.slots, 4);
  });

  it('believes more slots as they are used, up to what is claimed', () => {
    const { fleet } = world({ large: { model: { slots: 6 } } });
    const slots = [2, 4, 4, 5, 6, 7].map((sideBySide) => {
      fleet.noteServed({ ...served('large'), sideBySide });
      return fleet.slots;
    });
    assert.deepEqual(slots, [4, 5, 5, 6, 6, 6]);
  });

  it('does not take jobs that wait for ones that are made side by side', () => {
    const { fleet, loadOf } = world({ w: { model: { slots: 256 } } });
    loadOf('w').own = 40;
    fleet.noteServed(served('w'));
    assert.equal(fleet.slots, 4);
  });

  it('remembers what it measured of a worker that leaves and comes back with great words', () => {
    const { fleet, sessions, connect } = world({ w: {} });
    fleet.noteServed({ ...served('w'), firstTokenMs: 10_010 });
    const before = fleet.choose(fresh, { except: nobody })?.expectedFirstTokenMs ?? 0;
    assert.ok(before >= 10_000);
    sessions.delete('w');
    fleet.refresh();
    connect('w', { model: { prefillTokensPerSecond: 1e9 } });
    fleet.refresh();
    assert.equal(fleet.choose(fresh, { except: nobody })?.expectedFirstTokenMs, before);
  });

  it('believes one answer little once it has measured, whether it was fast or slow', () => {
    const { fleet } = world({ w: {} });
    const expectedAfter = (firstTokenMs: number) => {
      fleet.noteServed({ ...served('w'), firstTokenMs });
      return Math.round(fleet.choose(fresh, { except: nobody })?.expectedFirstTokenMs ?? 0) - 30;
    };
    assert.equal(expectedAfter(1_010), 1_000);
    assert.equal(expectedAfter(100_010), Math.round(1_000 / 0.802));
    assert.ok(expectedAfter(510) > 800);
  });

  it('does not believe the speed of tokens that were held back and came at once', () => {
    const { fleet } = world({ w: {} });
    const speed = () => fleet.choose(fresh, { except: nobody })?.decodeTokensPerSecond ?? 0;
    fleet.noteServed({ ...served('w'), decodeMs: 0.5 });
    assert.equal(speed(), 50 + 0.2 * (300 - 50));
    for (let i = 0; i < 8; i++) fleet.noteServed(served('w'));
    assert.ok(speed() < 60, `${speed()}`);
  });

  it('leaves a worker alone that failed, longer each time, and tries it with one job', () => {
    const { fleet, time } = world({ w: {} });
    const isAsked = () => fleet.choose(job, { except: nobody }) !== undefined;
    for (let i = 0; i < 20; i++) fleet.noteLost('w', 'stalled');
    assert.equal(isAsked(), false);
    time.nowMs += 751;
    assert.deepEqual([isAsked(), isAsked()], [true, false]);
    fleet.noteLost('w', 'gone');
    time.nowMs += 499;
    assert.equal(isAsked(), false);
    time.nowMs += 1_002;
    assert.deepEqual([isAsked(), isAsked()], [true, false]);
    fleet.noteServed(served('w'));
    assert.deepEqual([isAsked(), isAsked()], [true, true]);
  });

  it('holds no refusal against a worker', () => {
    const { fleet, time } = world({ w: {} });
    const isAsked = () => fleet.choose(job, { except: nobody }) !== undefined;
    for (let i = 0; i < 9; i++) fleet.noteLost('w', 'busy');
    assert.equal(isAsked(), false);
    time.nowMs += 250;
    assert.deepEqual([isAsked(), isAsked()], [true, true]);
    fleet.noteLost('w', 'full');
    assert.equal(isAsked(), true);
    fleet.noteLost('w', 'leaving');
    fleet.noteServed(served('w'));
    time.nowMs += 9_998;
    assert.equal(isAsked(), false);
  });

  it('is told of a question that was answered: the worker is asked again at once', () => {
    const { fleet, time } = world({ w: {} });
    const isAsked = () => fleet.choose(job, { except: nobody }) !== undefined;
    fleet.noteLost('w', 'stalled');
    time.nowMs += 751;
    assert.deepEqual([isAsked(), isAsked()], [true, false]);
    fleet.noteAnswered('w');
    assert.deepEqual([isAsked(), isAsked()], [true, true]);
  });

  it('leaves a worker alone that refused what it could do', () => {
    for (const loss of ['unusable', 'grammar-unusable']) {
      const { fleet } = world({ w: {} });
      fleet.noteLost('w', loss);
      assert.equal(fleet.choose(job, { except: nobody }), undefined, loss);
    }
  });

  it('asks nobody for more than its own context holds, whatever the others say', () => {
    const { fleet } = world({ small: { model: { contextLength: 1_000 } }, large: { rttMs: 900 } });
    const small = fleet.choose({ prompt: prompt.slice(0, 999), given: [] }, { except: nobody });
    assert.deepEqual([small?.session.peer, small?.contextLength], ['small', 1_000]);
    assert.equal(fleet.choose(job, { except: nobody })?.session.peer, 'large');
    const begun = { prompt: prompt.slice(0, 900), given: prompt.slice(0, 100) };
    assert.equal(fleet.choose(begun, { except: nobody })?.session.peer, 'large');
  });
});
