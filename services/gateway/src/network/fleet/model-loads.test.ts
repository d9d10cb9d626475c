// Which worker loads a model, with the fleets of three models over two simulated workers: each has memory for two of them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Directory, type Offer, type OfferedModel, PrefixMap } from '@strata/inference';
import { randomFrom } from '../../../../../tests/support/index.ts';
import { offeredModel } from '../../test/network/answers.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { LiveFleet } from './fleet.ts';
import { ModelLoads } from './model-loads.ts';

const GB = 1e9;
const fileOf = (name: string): OfferedModel =>
  offeredModel({ sha256: name.repeat(64), sizeBytes: 4 * GB, memoryBytes: 4 * GB, slots: 4 });
const prompt = Array.from({ length: 100 }, (_, i) => i);

/** Workers with what they have loaded; all can load `a`, `b` and `c`. */
function world(loaded: Readonly<Record<string, string>>) {
  const time = { nowMs: 1_800_000_000_000 };
  const [directory, sessions, loads] = [
    new Directory(),
    new Map<string, WorkerSession>(),
    new ModelLoads(() => time.nowMs),
  ];
  const own = new Map(Object.entries(loaded).map(([peer, names]) => [peer, new Set(names)]));
  const known = { directory, sessions, loads, prefixes: new PrefixMap(), trust: { of: () => 1 } };
  const fleets = new Map(
    ['a', 'b', 'c'].map((name) => [
      name,
      new LiveFleet(fileOf(name), { ...known, random: randomFrom(3), nowMs: () => time.nowMs }),
    ]),
  );
  const publish = () => {
    for (const [peer, names] of own) {
      const models = ['a', 'b', 'c'].map((name) => ({
        ...fileOf(name),
        ...(names.has(name) ? {} : { loadMs: 5_000 }),
      }));
      const memory = { memoryBudgetBytes: 9 * GB, memoryHeldBytes: names.size * 4 * GB };
      const times = { sequence: time.nowMs++, issuedAtMs: time.nowMs, expiresAtMs: time.nowMs + 120_000 };
      const offer = { peer, software: 's', running: 0, waiting: 0, ...times, models, ...memory };
      directory.take(offer, { ...time, isConnected: true });
    }
    for (const fleet of fleets.values()) fleet.refresh();
  };
  for (const peer of own.keys()) {
    const load = { running: 0, waiting: 0, otherGateways: 0, own: 0, writing: 0, calls: 0 };
    sessions.set(peer, { peer, load, rttMs: 1, isAlive: true } as Partial<WorkerSession> as WorkerSession);
  }
  publish();
  const jobs = (peer: string, count: number) => Object.assign(sessions.get(peer)?.load ?? {}, { own: count });
  /** The worker that is asked, and whether it must load the model. */
  const ask = async (name: string) => {
    const chosen = fleets.get(name)?.choose({ prompt, given: [] }, { except: new Set() });
    await new Promise((resolve) => setImmediate(resolve));
    return `${chosen?.session.peer}${chosen?.loadMs ? ' loads' : ''}`;
  };
  /** The worker has closed one model for another; its next offer reports it. */
  const loadedInstead = (peer: string, closed: string, opened: string) => {
    own.get(peer)?.delete(closed);
    own.get(peer)?.add(opened);
    publish();
  };
  const lost = (peer: string) => fleets.get('c')?.noteLost(peer, 'engine-failed');
  return { time, fleets, ask, jobs, loadedInstead, lost };
}

it('a model that is nowhere loaded is loaded where memory is free, and requests wait for that load', async () => {
  const { ask, jobs, time } = world({ full: 'ab', free: 'a' });
  for (const count of [1, 2, 3]) {
    assert.equal(await ask('c'), 'free loads');
    jobs('free', count);
    time.nowMs += 1_000;
  }
  // The load is not visible in the offer yet, but its memory is taken: the next model goes elsewhere.
  jobs('free', 4);
  assert.equal(await ask('b'), 'full', 'it has it loaded');
});
it('a model that is nowhere loaded replaces the one with the least recent demand, and a failed load frees its memory', async () => {
  const { ask, lost, time, fleets } = world({ one: 'ab', two: 'ab' });
  // Of `a`, only worker two is asked.
  for (let i = 0; i < 4; i += 1) fleets.get('a')?.choose({ prompt, given: [] }, { except: new Set(['one']) });
  fleets.get('b')?.choose({ prompt, given: [] }, { except: new Set(['one']) });
  time.nowMs += 30_000;
  assert.equal(await ask('c'), 'one loads');
  lost('one');
  assert.equal(await ask('c'), 'two loads', 'the other one, while the first backs off');
});
it('a shift of demand moves models, and no model is loaded that the workers which have it can serve', async () => {
  const { ask, jobs, time, loadedInstead } = world({ one: 'ab', two: 'ab' });
  for (const name of ['a', 'a', 'b', 'b']) await ask(name);
  time.nowMs += 600_000;
  // Only `a` and `c` are asked for from now on.
  await ask('a');
  const [first = ''] = (await ask('c')).split(' ');
  loadedInstead(first, 'b', 'c');
  jobs(first, 5);
  assert.equal(await ask('c'), first, 'a short queue is no reason for a load');
  jobs(first, 200);
  const other = first === 'one' ? 'two' : 'one';
  assert.equal(await ask('c'), `${other} loads`);
  loadedInstead(other, 'b', 'c');
  jobs(first, 0);
  for (const name of ['a', 'c', 'a', 'c']) assert.match(await ask(name), /^(one|two)$/);
});
it('a worker that is loading other models can still be asked for one, which it loads after them', () => {
  const loads = new ModelLoads(() => 0);
  const [a, b] = ['a', 'b'].map((name) => ({ ...fileOf(name), loadMs: 5_000 })) as [OfferedModel, OfferedModel];
  const offerOf = (models: OfferedModel[], heldBytes: number, budgetBytes = 10 * GB): Offer => ({
    ...{ peer: 'w', software: 's', running: 0, waiting: 0, sequence: 1, issuedAtMs: 0, expiresAtMs: 1 },
    ...{ models, memoryBudgetBytes: budgetBytes, memoryHeldBytes: heldBytes },
  });
  const cost = (offer: Offer) => loads.expected(offer, b).evictionMs;
  loads.noteAsked('w', a);
  const loading = { ...a, isLoading: true };
  assert.deepEqual([cost(offerOf([a, b], 0)), cost(offerOf([loading, b], 4 * GB))], [0, 0], 'both fit');
  for (const full of [offerOf([a, b], 0, 7 * GB), offerOf([loading, b], 4 * GB, 7 * GB)])
    assert.equal(cost(full), 20_000);
  assert.equal(cost(offerOf([b], 7 * GB, 7 * GB)), 20_000, 'of what is held, one model is not offered any more');
  assert.equal(cost(offerOf([b], 0, 3 * GB)), Number.POSITIVE_INFINITY, 'it is larger than the memory');
});
