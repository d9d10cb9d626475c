// Whole answers of a real model over a network whose workers are killed: JSON by grammar, calls of tools, stop strings, log-probabilities.
// What the layer above tells its client is the same as without any network.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Engine, startLlamaEngine } from '@strata/engine';
import { tinyChatModel as file } from '@strata/testnet';
import { NetworkBed } from '../test/network/network-bed.ts';
import { REQUESTS, SCHEMA, toldOf } from '../test/network/real-answers.ts';
import type { WorkerScript } from '../test/network/scripted-worker.ts';

let bed: NetworkBed;
let model: Engine;
before(async () => {
  [bed, model] = await Promise.all([NetworkBed.start(2), startLlamaEngine({ file, slots: 2, threads: 1, gpu: false })]);
});
after(async () => {
  await bed?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

/** The worker of every other answer part is killed at its `parts[n]`-th token. */
function dyingAt(positions: readonly number[]): WorkerScript {
  const left = new Set(positions);
  return {
    say(frame, worker) {
      if (frame.kind !== 'tokens' || !left.delete(frame.position)) return [frame];
      worker.kill();
      return [];
    },
  };
}

describe('an answer of a real model whose workers are killed', () => {
  for (const [what, more] of Object.entries(REQUESTS))
    it(`is the same: ${what}`, async (context) => {
      const undisturbed = await toldOf(model, more);
      assert.ok(undisturbed.tokens >= 6, `${undisturbed.tokens} tokens`);
      const last = undisturbed.tokens - 1;
      const cuts = [[0], [3, 4], [2, Math.floor(last / 2), last - 1, last]];
      for (const positions of cuts) {
        await bed.fresh();
        const script = dyingAt(positions);
        const connect = (at: number) => bed.worker(at, model, script);
        await Promise.all([connect(0), connect(1)]);
        const { noteLost } = bed.fleet;
        const back: Promise<unknown>[] = [];
        bed.fleet.noteLost = (peer, loss) => {
          noteLost.call(bed.fleet, peer, loss);
          back.push(connect(bed.nodes.findIndex(({ id }) => id === peer)));
        };
        await using engine = bed.engine(model.info.sha256, { info: () => model.info, vocabulary: model });
        const told = await toldOf(engine, more);
        await Promise.all(back);
        assert.deepEqual(told, undisturbed, `killed at ${positions}`);
        assert.equal(bed.fleet.lost.length, positions.length);
        assert.deepEqual(bed.trust.breaches, []);
      }
      if (what.startsWith('JSON')) assert.deepEqual(Object.keys(JSON.parse(undisturbed.text)), SCHEMA.required);
      context.diagnostic(`${undisturbed.tokens} tokens, ${cuts.flat().length} kills`);
    });
});
