// Workers that cheat: audits catch each of them, trusted or new, and no honest worker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulatedAnswer } from '@strata/testnet';
import { auditedNetwork, HONEST, honest, trueAnswer, trueAnswers } from '../../test/network/audited-network.ts';
import type { ObservedAnswer } from './trust.ts';

const simulated = (prompt: readonly number[], options: { seed: number; modelSeed?: number }) => ({
  answer: simulatedAnswer(prompt, { count: 40, ...options }),
});
const cheats: readonly (readonly [string, (answer: ObservedAnswer) => Partial<ObservedAnswer>])[] = [
  ['answers by another model', ({ prompt, sampling: { seed } }) => simulated(prompt, { seed, modelSeed: 2 })],
  ['the same answer to every client', () => ({ answer: [5, 6, 7, 8] })],
  ['draws by a seed of its own', ({ prompt }) => simulated(prompt, { seed: 3 })],
  ['answers of nothing', () => ({ answer: [] })],
  ['answers that end early', ({ answer }) => ({ answer: answer.slice(0, 25) })],
  ['answers that end before their limit', ({ answer }) => ({ answer: answer.slice(0, 25), reason: 'length' })],
  ['more tokens than the model gave', ({ answer }) => ({ answer: [...answer, 9, 9, 9, 9, 9, 9] })],
];

describe('a cheat', () => {
  for (const [what, change] of cheats)
    for (const isTrusted of [false, true])
      it(`is caught within ${isTrusted ? '500 requests once trusted' : '80 requests'}, and no honest worker is: ${what}`, async () => {
        await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest } });
        await network.answerHonestly(isTrusted ? ['ann', 'ben', 'cid', 'eve'] : ['ann', 'ben', 'cid'], 150);
        assert.equal(network.states('eve'), isTrusted ? 'good' : 'new');
        const requests = await network.requestsUntilCaught((answer) => ({ ...answer, ...change(answer) }));
        assert.ok(requests <= (isTrusted ? 500 : 80), `${requests}`);
        assert.equal(network.states('ann', 'ben', 'cid'), 'good good good');
      });

  it('that continues an honest answer is caught by its own part, and the first worker is not', async () => {
    await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest }, share: 0.2 });
    for (let request = 0; request < 200; request += 1) {
      const { answer, ...rest } = trueAnswer('dan', request);
      const given = answer.slice(0, 20);
      const longer = { ...rest, worker: 'eve', answer: [...given, 7, 8, 9], from: 20 };
      await network.take({ ...rest, answer: given, reason: 'cancelled' }, longer);
    }
    assert.equal(network.states('eve', 'dan'), 'quarantined good');
  });
  it('that is proven gets no requests for a day', async () => {
    await using network = await auditedNetwork({ workers: HONEST, share: 0 });
    await network.take(...trueAnswers('eve', 50));
    assert.equal(network.asked.length, 0, 'at a share of 0 nothing is audited');
    network.auditor.breach('eve', 'a forged receipt');
    assert.deepEqual([network.auditor.of('eve'), network.reputation('eve').reason], [0, 'a forged receipt']);
    network.clock.nowMs += 25 * 3_600_000;
    assert.ok(network.auditor.of('eve') > 0);
  });
});
