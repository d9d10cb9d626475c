import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GREEDY } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { tinyEngine } from '../../../tests/support/tiny-engine.ts';
import { casesOf } from '../../../tests/support/vectors.ts';
import type { Engine, Job, JobEvent } from './engine.ts';
import { chooseSlot, commonPrefix } from './llama/choose-slot.ts';
import { arrange } from './open-model.ts';
import { MeasuredEngine, measureSpeed, type Speed } from './speed.ts';
import { never } from './test/tiny-engine.ts';

const promptOf = (count: number) => Array.from({ length: count }, (_, i) => i);
const usual: Job = { prompt: promptOf(64), given: [], replay: 'exact', maxTokens: 21, sampling: GREEDY };

/** An engine whose time is its own: so much for a prompt, so much for a token. */
function timed({ promptMs, tokenMs, cached = 0 }: { promptMs: number; tokenMs: number; cached?: number }) {
  const clock = { now: 1_000 };
  const engine: Engine = {
    ...createSimulatedEngine(),
    isReady: true,
    async *generate(asked): AsyncIterable<JobEvent> {
      yield { kind: 'begin', cachedTokens: cached };
      clock.now += promptMs;
      for (let i = asked.given.length; i < asked.maxTokens; i += 1) {
        clock.now += tokenMs;
        yield { kind: 'token', token: i, bytes: new Uint8Array(), logprob: 0 };
      }
      yield { kind: 'end', reason: 'length' };
    },
  };
  return { engine, clock, nowMs: () => clock.now };
}

async function read(engine: Engine, more: Partial<Job> = {}, onToken = () => {}): Promise<void> {
  for await (const { kind } of engine.generate({ ...usual, ...more }, never)) if (kind === 'token') onToken();
}

describe('the speed of an engine', () => {
  for (const decode of [100, 2_000, 5])
    it(`is measured within about a second, also of ${decode} tokens per second`, async () => {
      const prefill = 20 * decode;
      await using engine = createSimulatedEngine({ prefillTokensPerSecond: prefill, tokensPerSecond: decode });
      const startedAt = performance.now();
      const isSlow = ({ decode: of, prefill: ofPrompt }: Speed) => of <= decode / 20 || ofPrompt <= prefill / 40;
      let speed = await measureSpeed(engine);
      // A pause of the machine is measured too.
      for (let again = 0; again < 2 && isSlow(speed); again += 1) speed = await measureSpeed(engine);
      // The slowest would take 24 s without a limit.
      assert.ok(performance.now() - startedAt < 30_000);
      // Upper bounds hold on any machine; lower ones are generous, since both cores may be busy.
      const isPossible = speed.decode < decode * 3 && speed.prefill < prefill * 3;
      assert.ok(isPossible && !isSlow(speed), `${decode}, ${prefill}: ${JSON.stringify(speed)}`);
    });

  it('is measured of llama.cpp too', async () => {
    const { prefill, decode } = await measureSpeed(await tinyEngine());
    assert.ok(decode > 1 && prefill > 1, `${prefill} ${decode}`);
  });

  it('rejects as the engine does', async () => {
    const engine = createSimulatedEngine();
    await engine[Symbol.asyncDispose]();
    await assert.rejects(measureSpeed(engine), /died/);
  });

  it('is moved by each answer, a little', async () => {
    const { engine, nowMs } = timed({ promptMs: 30, tokenMs: 2 });
    const measured = new MeasuredEngine(engine, { prefill: 1_000, decode: 100 }, { nowMs });
    const rounded = () => [measured.speed.prefill, measured.speed.decode].map(Math.round);
    await read(measured);
    assert.deepEqual(rounded(), [0.8 * 1_000 + 0.2 * 2_000, 0.8 * 100 + 0.2 * 500]);
    for (let i = 0; i < 40; i += 1) await read(measured);
    assert.deepEqual(rounded(), [2_000, 500]);
  });

  it('is not moved by what says little of it: cached prompts, short answers, slow readers, replayed tokens', async () => {
    const before = { prefill: 1_000, decode: 100 };
    for (const [more, readMs] of [
      [{ maxTokens: 4 }, 0],
      [{}, 50],
      [{ prompt: promptOf(500), given: promptOf(19) }, 0],
    ] as const) {
      const cached = timed({ promptMs: 1, tokenMs: 1, cached: 60 });
      const measured = new MeasuredEngine(cached.engine, before, cached);
      await read(measured, more, () => {
        cached.clock.now += readMs;
      });
      assert.deepEqual(measured.speed, before);
    }
  });

  it('leaves everything else to the engine', async () => {
    const engine = createSimulatedEngine();
    const measured = new MeasuredEngine(engine, { prefill: 1, decode: 1 });
    assert.deepEqual(measured.info, engine.info);
    assert.deepEqual(await measured.tokenize('hello'), await engine.tokenize('hello'));
    const scored = { prompt: [1], answer: [2], hasEnd: false, sampling: GREEDY };
    assert.deepEqual(await measured.score(scored, never), await engine.score(scored, never));
    await measured[Symbol.asyncDispose]();
    assert.equal(measured.isReady, false);
  });
});

for (const [why, cores, memoryGb, slots, sizeGb, hasGpu, given, processes, threads] of casesOf<
  [string, number, number, number, number, boolean, object, number, number][]
>('engine', 'arrangements'))
  it(`the arrangement of an engine fits ${why}`, () => {
    const machine = { cores, memoryBytes: memoryGb * 1e9 };
    assert.deepEqual(arrange(machine, { slots, sizeBytes: sizeGb * 1e9, hasGpu }, given), { processes, threads });
  });

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

const slot = (id: string, tokens: readonly number[], usedAt: number, cacheKey?: string) => {
  return { id, tokens, usedAt, ...(cacheKey === undefined ? {} : { cacheKey }) };
};

const prompt = range(0, 100);
const [a, b, c] = [slot('a', range(0, 40), 1, 'k'), slot('b', range(0, 40), 0, 'other'), slot('c', range(0, 60), 2)];
const max = slot('y', [...range(0, 60), 7], 9);
const unrelated = [slot('x', range(0, 10), 5), slot('y', range(50, 90), 2), slot('z', range(0, 5), 9)];
const short = slot('d', range(0, 2), 0, 'l');
for (const [name, slots, cacheKey, expected] of [
  ['is the one that has the longest beginning in common', [slot('x', range(0, 20), 1), max], undefined, 'y'],
  ['is the one unused for the longest time where little is common', unrelated, undefined, 'y'],
  ['is the one unused for longer of two that have read as much', [slot('x', range(0, 40), 8), a], undefined, 'a'],
  ['is the one of the same cache key where that decides between equals', [a, b], 'k', 'a'],
  ['is the one unused for longer where no cache key is given', [a, b], undefined, 'b'],
  ['is the one with the longer beginning, whatever its cache key', [a, c], 'k', 'c'],
  ['is the one of the same cache key where little is common', [short, slot('b', [], 0, 'other')], 'l', 'd'],
  ['is undefined where no slot is free', [], undefined, undefined],
] as const)
  it(`the slot of a prompt ${name}`, () => {
    assert.equal(chooseSlot(slots, prompt, cacheKey)?.id, expected);
    assert.equal(chooseSlot([...slots].reverse(), prompt, cacheKey)?.id, expected);
  });

it('the slot of a prompt has a prefix in common that is counted from the beginning alone', () =>
  assert.deepEqual([commonPrefix([1, 2, 3], [1, 2, 4, 3]), commonPrefix([], [1])], [2, 0]));
