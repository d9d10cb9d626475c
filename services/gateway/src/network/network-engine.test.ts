// Answers of a network whose workers are killed, stall and lie, against what an undisturbed worker says: token by token the same.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Engine, Job, JobContext, JobSegment } from '@strata/engine';
import { type Frame, GREEDY } from '@strata/inference';
import { createSimulatedEngine, simulatedAnswer } from '@strata/testnet';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { ScriptedWorker, WorkerScript } from '../test/network/scripted-worker.ts';

const PROMPT = [11, 22, 33];
const SEED = 7;
const COUNT = 30;
const NEVER = new AbortController().signal;
const MODEL = createSimulatedEngine().info.sha256;

let bed: NetworkBed;
before(async () => {
  bed = await NetworkBed.start(5);
});
after(() => bed?.[Symbol.asyncDispose]());

const job = (more: Partial<Job> = {}): Job => ({
  ...{ prompt: PROMPT, given: [], replay: 'exact', maxTokens: COUNT, sampling: { ...GREEDY, seed: SEED } },
  ...more,
});
const truth = (count = COUNT, seed = SEED) => simulatedAnswer(PROMPT, { seed, count });

async function answerOf(engine: Engine, asked: Job = job(), context: JobContext = {}) {
  const tokens: number[] = [];
  const kinds: string[] = [];
  for await (const event of engine.generate(asked, NEVER, context)) {
    if (event.kind === 'token') tokens.push(event.token);
    else kinds.push(event.kind === 'end' ? event.reason : event.kind);
  }
  return { tokens, kinds };
}

/** Does something in place of the tokens at this position, once. */
const at = (position: number, act: (worker: ScriptedWorker) => readonly (Frame | Uint8Array)[]): WorkerScript => {
  let isDone = false;
  return {
    say(frame, worker) {
      if (isDone || frame.kind !== 'tokens' || frame.position !== position) return [frame];
      isDone = true;
      return act(worker);
    },
  };
};
const killed = (worker: ScriptedWorker) => {
  worker.kill();
  return [];
};

describe('an answer of the network', () => {
  it('is what its worker says', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine());
    const segments: JobSegment[] = [];
    await using engine = bed.engine(MODEL);
    const { tokens, kinds } = await answerOf(engine, job(), { onSegment: (segment) => segments.push(segment) });
    assert.deepEqual(tokens, truth());
    assert.deepEqual(kinds, ['begin', 'length']);
    assert.deepEqual(
      segments.map(({ from, to, worker }) => [from, to, worker]),
      [[0, COUNT, bed.nodes[0]?.id]],
    );
  });

  it('is the same when its worker is killed at any of its tokens', async () => {
    for (let position = 0; position <= COUNT; position += 1) {
      await bed.fresh();
      await bed.worker(0, createSimulatedEngine(), at(position, killed));
      await bed.worker(1, createSimulatedEngine());
      await using engine = bed.engine(MODEL);
      const { tokens, kinds } = await answerOf(engine);
      assert.deepEqual(tokens, truth(), `killed at ${position}`);
      assert.deepEqual(kinds, ['begin', 'length']);
      assert.equal(bed.fleet.lost.length, position < COUNT ? 1 : 0);
    }
  });
});
