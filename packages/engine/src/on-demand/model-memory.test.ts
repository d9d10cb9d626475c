import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import { createSimulatedEngine } from '@strata/testnet';
import { ModelMemory } from './model-memory.ts';
import { OnDemandEngine } from './on-demand-engine.ts';
import type { SharedModel } from './resident.ts';

const never = new AbortController().signal;

/** Models of one byte each, by id, in a budget; `news` has their loads (`+a`) and their ends (`-a`) in order. */
function memoryOf(
  budgetBytes: number,
  { loadMs = 60_000, load = async (_id: string, _signal: AbortSignal) => {} } = {},
) {
  const news: string[] = [];
  const clock = { ms: 0 };
  const logged: string[] = [];
  const crashes: Record<string, (detail: string) => void> = {};
  const note = (_facts: object, message: string) => void logged.push(message);
  const log = { info: () => {}, warn: note, error: note };
  const memory = new ModelMemory({ budgetBytes, loadMs }, { log, nowMs: () => clock.ms });
  const model = (id: string, memoryBytes = 1, vectorBytes = 0) =>
    memory.add({
      ...{ id, memoryBytes, vectorBytes },
      load: async (signal, onDied) => {
        await load(id, signal);
        crashes[id] = onDied;
        news.push(`+${id}`);
        const engine = createSimulatedEngine({ name: id });
        return { ...engine, [Symbol.asyncDispose]: async () => void news.push(`-${id}`) };
      },
    });
  const [a, b, c] = [model('a'), model('b'), model('c')];
  return { memory, news, clock, logged, crashes, model, a, b, c };
}

const vectors = { vectors: true };
const touch = async (model: SharedModel, options = {}) => {
  using lease = await model.use(never, options);
  return lease.engine.info.name;
};

it('models in a memory budget are loaded at their first use, by one load for concurrent uses; the least recently used idle ones are closed', async () => {
  const scene = memoryOf(2);
  const { memory, news, a, b, c } = scene;
  assert.deepEqual(await Promise.all([touch(a), touch(a), touch(b)]), ['a', 'a', 'b']);
  assert.deepEqual(news, ['+a', '+b']);
  await touch(a);
  await touch(c);
  assert.deepEqual(news.splice(0), ['+a', '+b', '-b', '+c']);
  assert.deepEqual([a.isLoaded, b.isLoaded, c.isLoaded], [true, false, true]);
  // A large model needs the memory of both.
  await touch(scene.model('large', 2));
  assert.deepEqual(news.splice(0).toSorted(), ['+large', '-a', '-c']);
  const counts = { loads: 4, evictions: 3, failures: 0 };
  assert.deepEqual(memory.stats, { ...counts, heldBytes: 2, budgetBytes: 2 });
  assert.throws(() => scene.model('huge', 3), /huge exceeds the memory budget/);
  await memory[Symbol.asyncDispose]();
  assert.deepEqual(news, ['-large']);
  await assert.rejects(a.use(never), /the engine was stopped/);
});

it('models in a memory budget are never closed in use; then new uses wait behind the model that needs the memory', async () => {
  const { news, a, b, c } = memoryOf(2);
  const running = await a.use(never);
  await touch(b);
  const also = await b.use(never);
  const waiting = touch(c);
  await tick();
  // `a` was used before `b`: it is to be closed, although another use of it arrives.
  const later = touch(a);
  assert.equal(a.tryUse(), undefined);
  assert.equal(await touch(b), 'b');
  assert.deepEqual(news, ['+a', '+b']);
  running[Symbol.dispose]();
  assert.equal(await waiting, 'c');
  assert.equal(await later, 'a');
  assert.deepEqual(news, ['+a', '+b', '-a', '+c', '-c', '+a']);
  also[Symbol.dispose]();
});

it('models in a memory budget stay when nothing waits any more for the memory, or when it does not become free in time', async () => {
  const { news, a, b } = memoryOf(1);
  using _running = await a.use(never);
  const leaving = new AbortController();
  const left = assert.rejects(b.use(leaving.signal), /left/);
  await tick();
  const later = touch(a);
  leaving.abort(new Error('left'));
  await left;
  assert.equal(await later, 'a');
  assert.deepEqual(news, ['+a']);
  const short = memoryOf(1, { loadMs: 20 });
  using _busy = await short.a.use(never);
  const refused = { code: 'not-loaded', retryAfterMs: 10_000, message: /leave no memory for b/ };
  await assert.rejects(short.b.use(never), refused);
  assert.equal(short.b.isReady, true);
  assert.equal(await touch(short.a), 'a');
  assert.deepEqual([short.news, short.memory.stats.failures], [['+a'], 0]);
});

it('models that cannot be loaded are tried again at growing intervals, and hold no memory', async () => {
  let isBroken = true;
  let tries = 0;
  const load = async (id: string, signal: AbortSignal) => {
    if (id !== 'a') return;
    tries += 1;
    // The first load hangs: it is ended by its deadline.
    if (tries === 1) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    if (isBroken) throw new Error('damaged');
  };
  const { memory, clock, logged, a, b } = memoryOf(1, { load, loadMs: 20 });
  for (const [i, retryAfterMs] of [5_000, 10_000, 20_000].entries()) {
    const refused = { code: 'not-loaded', retryAfterMs };
    await Promise.all([assert.rejects(a.use(never), refused), assert.rejects(a.use(never), refused)]);
    assert.deepEqual([a.isReady, tries, memory.stats.heldBytes], [false, i + 1, 0]);
    await assert.rejects(a.use(never), refused);
    clock.ms += retryAfterMs;
  }
  assert.deepEqual(logged, Array(3).fill('the model cannot be loaded'));
  assert.equal(await touch(b), 'b');
  isBroken = false;
  assert.equal(await touch(a), 'a');
  assert.deepEqual([a.isReady, memory.stats.failures, tries], [true, 3, 4]);
  a.failed(new Error('only its vocabulary cannot be opened'));
  assert.ok(a.tryUse());
});

it('models that crash three times in ten minutes are closed, and loaded again at growing intervals', async () => {
  const { memory, news, clock, logged, crashes, a } = memoryOf(1);
  // Delay after a closure, and times of the crashes before it, in seconds. Two crashes long ago are forgotten, those
  // before the previous closure are not. A delay is short again after ten minutes without a crash, not after a load.
  const closures = ['5 0 0 600 1 0', '10 0', '20 0', '40 0', '80 0', '160 0', '300 0', '300 0', '300 0 0'];
  for (const closure of [...closures, '300 400 599 0', '5 600 0 0']) {
    const [retryAfterMs = 0, ...crashedAfterMs] = closure.split(' ').map((seconds) => Number(seconds) * 1_000);
    await touch(a);
    for (const ms of crashedAfterMs) {
      assert.deepEqual([a.isReady, a.unavailable], [true, undefined]);
      clock.ms += ms;
      crashes.a?.('SIGSEGV');
    }
    assert.deepEqual([a.isLoaded, a.isReady, a.unavailable], [false, false, 'a crashed 3 times in 10 minutes']);
    await assert.rejects(a.use(never), { code: 'not-loaded', retryAfterMs, message: /^a crashed/ });
    clock.ms += retryAfterMs;
  }
  assert.equal(await touch(a), 'a');
  assert.deepEqual(news, [...Array(11).fill(['+a', '-a']).flat(), '+a']);
  assert.deepEqual(logged, Array(11).fill('the model crashed 3 times in 10 minutes and is closed'));
  assert.deepEqual([memory.stats.heldBytes, memory.stats.failures], [1, 11]);
});

it('vectors count in a memory budget from the first one on', async () => {
  const { memory, news, logged, model, a } = memoryOf(3);
  const d = model('d', 1, 1);
  await touch(a);
  await touch(d);
  assert.deepEqual([news, memory.stats.heldBytes], [['+a', '+d'], 2]);
  await touch(d, vectors);
  await touch(d, vectors);
  assert.deepEqual([news, memory.stats.heldBytes], [['+a', '+d'], 3], 'it is not loaded again');
  await touch(model('e'));
  assert.deepEqual([news.slice(2), memory.stats.heldBytes], [['-a', '+e'], 3]);
  await touch(model('f', 2));
  assert.deepEqual([news.slice(4), memory.stats.heldBytes], [['-d', '+f'], 3]);
  // Loaded at once with the memory for vectors.
  await touch(d, vectors);
  assert.deepEqual([news.slice(6).toSorted(), memory.stats.heldBytes], [['+d', '-e', '-f'].toSorted(), 2]);
  assert.deepEqual(logged, []);
  const g = model('g', 2, 2);
  assert.match(logged.join(), /^embeddings need more memory .* are refused/, 'at the start');
  await touch(g);
  await assert.rejects(touch(g, vectors), { code: 'vectors-too-large' });
});

it('vectors in a memory budget wait for their memory if they arrive during a load, an eviction or a wait', async () => {
  let early: Promise<unknown> | undefined;
  const load = async (id: string) => {
    if (id === 'd') early ??= touch(d, vectors);
  };
  const { memory, a, b, c, crashes, model, news } = memoryOf(2, { load });
  const d: SharedModel = model('d', 1, 1);
  const assertNews = (...expected: string[]) =>
    assert.deepEqual([news.splice(0), memory.stats.heldBytes], [expected, 2]);
  await touch(a);
  const first = await d.use(never);
  await early;
  assertNews('+a', '+d', '-a');
  // `c` closes it while vectors wait.
  const evicting = touch(c);
  await tick();
  const next = touch(d, vectors);
  first[Symbol.dispose]();
  await Promise.all([evicting, next]);
  assertNews('-d', '+c', '-c', '+d');
  // A first use waits for one of two models in use, then vectors wait for both.
  const busy = [await a.use(never), await b.use(never)];
  const waiting = [touch(d)];
  await tick();
  waiting.push(touch(d, vectors));
  for (const each of busy) each[Symbol.dispose]();
  await Promise.all(waiting);
  assertNews('-d', '+a', '+b', '-a', '-b', '+d');
  // It crashes for the third time while vectors wait.
  const running = await a.use(never);
  await touch(d);
  const refused = assert.rejects(touch(d, vectors), { code: 'not-loaded', message: /^d crashed 3 times/ });
  await tick();
  for (let i = 0; i < 3; i += 1) crashes.d?.('SIGSEGV');
  running[Symbol.dispose]();
  await refused;
  assert.deepEqual([news, memory.stats.heldBytes], [['-d', '+a', '+d', '-d', '-a'], 0]);
});

it('vectors of a model on demand can be aborted until it is loaded, and no longer', async () => {
  const signals: AbortSignal[] = [];
  const embed = async (_: unknown, signal: AbortSignal) => new Float32Array(signals.push(signal));
  const inner = { ...createSimulatedEngine(), embed };
  const loaded = Promise.withResolvers<void>();
  const memory = new ModelMemory({ budgetBytes: 1 }, { log: { info() {}, warn() {}, error() {} }, nowMs: () => 0 });
  const model = memory.add({ id: 'a', memoryBytes: 1, load: () => loaded.promise.then(() => inner) });
  await using engine = new OnDemandEngine({ file: '', info: inner.info }, model);
  const [early, late] = [new AbortController(), new AbortController()];
  const left = assert.rejects(engine.embed([1], early.signal), /left/);
  const vector = engine.embed([1], late.signal);
  early.abort(new Error('left'));
  await left;
  loaded.resolve();
  assert.equal((await vector).length, 1);
  late.abort();
  const areAborted = signals.map(({ aborted }) => aborted);
  assert.deepEqual(areAborted, [false]);
});
