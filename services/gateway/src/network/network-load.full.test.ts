// Many answers side by side while workers are killed one after another: each is what an undisturbed worker says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GREEDY } from '@strata/inference';
import { createSimulatedEngine, simulatedAnswer } from '@strata/testnet';
import { answerOf, job, MODEL } from '../test/network/answers.ts';
import type { ScriptedWorker } from '../test/network/scripted-worker.ts';
import { freshBed } from '../test/network/shared-bed.ts';

const WORKERS = 5;
const ANSWERS = 200;
const TOKENS = 40;
const TOKENS_PER_SECOND = 30;
const KILL_MS = 300;

describe('200 answers over 5 workers, of which one is killed every 300 ms', () => {
  it('lose no token and repeat none', async (context) => {
    const bed = await freshBed();
    // A worker tries until it is heard, as real ones do.
    const start = (at: number): Promise<ScriptedWorker> =>
      bed
        .worker(at, createSimulatedEngine({ slots: ANSWERS, tokensPerSecond: TOKENS_PER_SECOND }))
        .catch(() => start(at));
    const workers = await Promise.all(Array.from({ length: WORKERS }, (_, at) => start(at)));
    bed.fleet.decodeTokensPerSecond = TOKENS_PER_SECOND;
    // Most of what a worker lives for would go into reading token by token.
    await using engine = bed.engine(MODEL, { replayBudgetMs: 200 });
    let kills = 0;
    const over = new AbortController();
    const killing = (async () => {
      while (!over.signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, KILL_MS));
        const at = kills % WORKERS;
        workers[at]?.kill();
        kills += 1;
        workers[at] = await start(at);
      }
    })();
    const answers = await Promise.all(
      Array.from({ length: ANSWERS }, async (_, seed) => {
        const prompt = [seed, seed + 1, 5];
        const asked = job({ prompt, maxTokens: TOKENS, sampling: { ...GREEDY, seed } });
        return { ...(await answerOf(engine, asked)), truth: simulatedAnswer(prompt, { seed, count: TOKENS }) };
      }),
    );
    over.abort();
    await killing;
    for (const { tokens, kinds, truth } of answers) {
      assert.deepEqual(tokens, truth);
      assert.deepEqual(kinds, ['begin', 'length']);
    }
    assert.ok(bed.fleet.lost.length > 20, `${bed.fleet.lost.length} losses`);
    assert.deepEqual(bed.trust.breaches, []);
    const causes = Object.groupBy(bed.fleet.lost, ({ loss }) => loss);
    const told = Object.entries(causes).map(([loss, all]) => `${loss} ${all?.length}`);
    context.diagnostic(`${kills} kills; answers that went on with another worker: ${told.join(', ')}`);
  });
});
