// Audits of workers whose engines draw tokens with their own random numbers.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  always,
  auditedNetwork,
  HONEST,
  honest,
  MODEL,
  type Score,
  trueAnswer,
} from '../../test/network/audited-network.ts';
import type { ObservedAnswer } from './trust.ts';

/** The tokens of a draw with another noise: wrong by the seed. */
const drawnElsewhere = (answer: ObservedAnswer): ObservedAnswer => ({
  ...answer,
  sampling: { ...answer.sampling, seed: answer.sampling.seed + 1 },
});
/** Scores of a model that could have drawn every token. */
const drawing: Score = async (...asked) => (await honest(...asked)).map((margin) => Math.min(margin, 10));
const DRAWING = { ann: drawing, ben: drawing, cid: drawing };
/** The same, but for a small error of each. */
const nearly: Score = async (...asked) => (await drawing(...asked)).map((margin) => margin + 0.2);
const LACKING = { eve: ['draws'] as const };
/** How the worker scores its own answer, and after how many requests it is caught. */
const cases: readonly (readonly [string, Score, isCaught: boolean])[] = [
  ['its scores of its own answer are those of other workers', drawing, false],
  ['they differ by rounding', nearly, false],
  ['they are of another model', always(1), true],
  ['it does not score', () => Promise.reject(new Error('no scores')), false],
];
for (const [what, score, isCaught] of cases)
  it(`a worker that draws itself is ${isCaught ? 'quarantined' : 'not suspected'} if ${what}`, async () => {
    await using network = await auditedNetwork({ workers: { ...DRAWING, eve: score }, lacks: LACKING, share: 1 });
    const requests = await network.requestsUntilCaught(drawnElsewhere);
    assert.equal(requests < 100, isCaught, `${requests}`);
    if (!isCaught) assert.equal(network.reputation('eve').evidence, 0);
  });

it('tokens that hardly any draw gives count although the worker scores them as verifiers do, but not with a grammar', async () => {
  const far = always(20);
  await using network = await auditedNetwork({
    workers: { ann: far, ben: far, cid: far, eve: far },
    lacks: LACKING,
    share: 1,
  });
  assert.equal(await network.requestsUntilCaught((answer) => ({ ...answer, grammar: 'root ::= "a"' })), 501);
  assert.ok((await network.requestsUntilCaught(drawnElsewhere)) < 100);
});

it('at temperature 0 its tokens are checked like those of other workers', async () => {
  await using network = await auditedNetwork({ workers: { ...HONEST, eve: honest }, lacks: LACKING, share: 1 });
  const greedy = (answer: ObservedAnswer) => ({ ...answer, sampling: { ...answer.sampling, temperature: 0 } });
  await network.take(...Array.from({ length: 20 }, (_, i) => greedy(trueAnswer('eve', i))));
  assert.equal(network.reputation('eve').audits, 20);
  assert.ok((await network.requestsUntilCaught((answer) => greedy(drawnElsewhere(answer)))) < 50);
});

it('an engine that scores nothing verifies no worker, and the level of its sampled answers says why', async () => {
  const lacks = { eve: ['draws', 'scores'] as const };
  await using network = await auditedNetwork({ workers: { ann: honest, eve: honest }, lacks, share: 1 });
  await network.take(trueAnswer('ann', 1), drawnElsewhere(trueAnswer('eve', 2)));
  assert.deepEqual(
    network.asked.map(({ peer }) => peer),
    [],
  );
  const levelOf = () => Object.values(network.auditor.verified('eve', MODEL)).join(': ');
  assert.match(levelOf(), /^claimed: its engine draws tokens itself and scores none, .* temperature 0/);
  const answer = trueAnswer('eve', 3);
  await network.take({ ...answer, sampling: { ...answer.sampling, temperature: 0 } });
  assert.match(levelOf(), /^audited: 1 answer of .*; its answers above temperature 0 are not audited$/);
});
