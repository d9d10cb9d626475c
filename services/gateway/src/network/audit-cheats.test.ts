// Workers that cheat, each caught by audits: once trusted and from the start, and nobody else with it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulatedAnswer } from '@strata/testnet';
import {
  answerHonestly,
  auditedNetwork,
  by,
  type Change,
  HONEST,
  honest,
  readAs,
  requestsUntilCaught,
  trueAnswer,
} from '../test/network/audited-network.ts';
import { drawingScore, drawnAnswer } from '../test/network/drawing-model.ts';
import type { SeenAnswer } from './trust.ts';

const cheats: [string, Change][] = [
  [
    'answers by another model',
    by(({ prompt, sampling }) => ({
      answer: simulatedAnswer(prompt, { seed: sampling.seed, count: 40, modelSeed: 2 }),
    })),
  ],
  ['the same answer to everybody', by({ answer: [5, 6, 7, 8] })],
  ['draws by a seed of its own', by(({ prompt }) => ({ answer: simulatedAnswer(prompt, { seed: 3, count: 40 }) }))],
  ['answers of nothing', by({ answer: [] })],
  ['answers that end early', by(({ answer }) => ({ answer: answer.slice(0, 25) }))],
  ['answers cut short as if at their limit', by(({ answer }) => ({ answer: answer.slice(0, 25), reason: 'length' }))],
  ['more tokens than the model gave', by(({ answer }) => ({ answer: [...answer, 9, 9, 9, 9, 9, 9] }))],
  ['text that its tokens do not read as', (answer) => ({ ...answer, text: Buffer.from('buy now') })],
];

describe('a cheat', () => {
  for (const [what, change] of cheats) {
    it(`is caught within 500 requests, once trusted and from the start, and nobody else is: ${what}`, async () => {
      for (const isTrusted of [false, true]) {
        await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest } });
        await answerHonestly(network, isTrusted ? ['ann', 'ben', 'cid', 'eve'] : ['ann', 'ben', 'cid'], 150);
        if (isTrusted) assert.equal(network.auditor.standing('eve').state, 'good');
        const requests = await requestsUntilCaught(network, change);
        assert.ok(requests <= 500);
        if (!isTrusted) assert.ok(requests < 80, `${requests}`);
        for (const peer of ['ann', 'ben', 'cid']) assert.equal(network.auditor.standing(peer).state, 'good');
      }
    });
  }

  const draws: [string, Partial<SeenAnswer['sampling']>, boolean][] = [
    ['draws as it was asked to, and is honest', {}, false],
    ['gives the likeliest tokens instead of drawn ones', { temperature: 0 }, true],
    ['draws at another temperature', { temperature: 0.6 }, true],
  ];
  for (const [what, instead, isCheat] of draws) {
    it(`is told from others by its tokens: one that ${what}`, async () => {
      const workers = { ann: drawingScore, ben: drawingScore, cid: drawingScore };
      await using network = await auditedNetwork({ workers });
      const requests = await requestsUntilCaught(network, (answer) => {
        const sampling = { ...answer.sampling, temperature: 1 };
        return readAs({ ...answer, sampling, answer: drawnAnswer(answer.prompt, { ...sampling, ...instead }, 40) });
      });
      if (isCheat) assert.ok(requests < 80, `${requests}`);
      else assert.deepEqual([requests, network.auditor.standing('eve').state], [Number.POSITIVE_INFINITY, 'good']);
    });
  }

  it('that takes over an honest answer is caught by what it adds, and who began it is not', async () => {
    await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest }, share: 0.2 });
    for (let request = 0; request < 200; request += 1) {
      const { answer, ...rest } = trueAnswer('dan', request);
      network.auditor.answered(readAs({ ...rest, answer: answer.slice(0, 20), reason: 'cancelled' }));
      network.auditor.answered(readAs({ ...rest, worker: 'eve', answer: [...answer.slice(0, 20), 7, 8, 9], from: 20 }));
      await network.auditor.settled();
    }
    assert.equal(network.auditor.standing('eve').state, 'quarantined');
    assert.equal(network.auditor.standing('dan').state, 'good');
  });

  it('is judged by its own part of an answer alone', async () => {
    await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest }, share: 1 });
    // The first twenty tokens were made by another one.
    for (let request = 0; request < 20; request += 1) {
      const answer = trueAnswer('eve', request);
      network.auditor.answered(
        readAs({ ...answer, answer: [...answer.answer.slice(0, 20), 77], from: 20, reason: 'cancelled' }),
      );
      network.auditor.answered(readAs({ ...trueAnswer('dan', request), from: 39 }));
    }
    await network.auditor.settled();
    assert.equal(network.auditor.standing('eve').state, 'quarantined');
    assert.equal(network.auditor.standing('dan').state, 'good');
  });

  it('that is proven one at once has no work for a day', async () => {
    await using network = await auditedNetwork({ workers: HONEST });
    network.auditor.breach('eve', 'a forged receipt');
    assert.equal(network.auditor.of('eve'), 0);
    assert.equal(network.auditor.standing('eve').reason, 'a forged receipt');
    network.clock.nowMs += 25 * 3_600_000;
    assert.ok(network.auditor.of('eve') > 0);
  });
});
