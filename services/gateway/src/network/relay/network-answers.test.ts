// Complete answers of a real model over a network whose workers are killed: grammars, tool calls, stop strings, log-probabilities. Clients get the same answers as without a network.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Engine } from '@strata/engine';
import { tinyEngine } from '../../../../../tests/support/tiny-engine.ts';
import { killed } from '../../test/network/answers.ts';
import { deltasOf, REQUESTS, SCHEMA } from '../../test/network/real-answers.ts';
import type { WorkerScript } from '../../test/network/scripted-worker.ts';
import { connect, freshBed } from '../../test/network/shared-bed.ts';

describe('an answer of a real model whose workers are killed', () => {
  let model: Engine;
  before(async () => {
    model = await tinyEngine();
  });

  for (const [name, more] of Object.entries(REQUESTS))
    it(`is the same: ${name}`, async () => {
      const undisturbed = await deltasOf(model, more);
      assert.ok(undisturbed.tokens >= 6, `${undisturbed.tokens} tokens`);
      const last = undisturbed.tokens - 1;
      const early = [0, 1, Math.floor(last / 2)];
      for (const positions of [early, [2, last - 1, last]]) {
        const bed = await freshBed();
        const left = new Set(positions);
        const send: WorkerScript['send'] = (frame, worker) =>
          frame.kind === 'tokens' && left.delete(frame.position) ? killed(frame, worker) : [frame];
        const start = (at: number) => connect(bed, at, { engine: model, send });
        await Promise.all([start(0), start(1)]);
        const { noteLost } = bed.fleet;
        const back: Promise<unknown>[] = [];
        bed.fleet.noteLost = (peer, loss) => {
          noteLost.call(bed.fleet, peer, loss);
          back.push(start(bed.nodes.findIndex(({ id }) => id === peer)));
        };
        await using engine = bed.engine(model.info.sha256, { info: () => model.info, vocabulary: model });
        const made = await deltasOf(engine, more);
        await Promise.all(back);
        assert.deepEqual(made, undisturbed, `killed at ${positions}`);
        assert.equal(bed.fleet.lost.length, positions.length);
        assert.deepEqual(bed.trust.breaches, []);
      }
      if (name.startsWith('JSON')) assert.deepEqual(Object.keys(JSON.parse(undisturbed.text)), SCHEMA.required);
    });
});
