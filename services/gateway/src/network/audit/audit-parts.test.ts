// The parts of an audit: challenges of verifiers, runs of answers, and checks of ends.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf, randomFrom } from '../../../../../tests/support/index.ts';
import { ANSWER_TOKENS, CONTEXT, MODEL, trueAnswer, trueAnswers, truth } from '../../test/network/audited-network.ts';
import { isPassed, KnownAnswers } from './audit-challenge.ts';
import { hasDrawnEnd, isCutShort } from './audit-facts.ts';
import { judge } from './audit-panel.ts';
import { AuditQueue } from './audit-queue.ts';
import { AuditRuns } from './audit-runs.ts';
import { type ObservedAnswer, sizeOf } from './trust.ts';

function known(count: number, knownTo: readonly string[] = ['ann']): KnownAnswers {
  const answers = new KnownAnswers();
  for (const { prompt, answer, sampling } of trueAnswers('ann', count))
    answers.keep({ modelSha256: MODEL, knownTo, job: { prompt, answer, hasEnd: true, sampling } });
  return answers;
}

it('a challenge is passed by a verifier that scores, and failed by one with constant results', async () => {
  const random = randomFrom(3);
  let changes = 0;
  for (let round = 0; round < 100; round += 1) {
    const challenge = known(1).challenge('ben', MODEL, random) ?? assert.fail();
    const { job, changed } = challenge;
    const constant = (margin: number) => Array.from({ length: job.answer.length + 1 }, () => margin);
    const margins = [await truth.score(job, new AbortController().signal), constant(0), constant(5), []];
    const isChanged = changed.length > 0;
    const passed = margins.map((each) => isPassed(challenge, each));
    assert.deepEqual(passed, [true, !isChanged, isChanged, false]);
    if (isChanged) changes += 1;
  }
  assert.ok(changes > 20 && changes < 80, `${changes}`);
});
it('a challenge is never one that the verifier knows, and is given once', () => {
  const answers = known(3, ['ann', 'ben']);
  const isGiven = (peer: string, model = MODEL) => answers.challenge(peer, model, Math.random) !== undefined;
  assert.deepEqual([isGiven('ben'), isGiven('cid', '00')], [false, false]);
  const given = Array.from({ length: 4 }, () => isGiven('cid'));
  assert.deepEqual(given, [true, true, true, false]);
});
it('a challenge is kept for the newest sixteen answers', () => {
  const answers = known(40);
  const given = Array.from({ length: 40 }, () => answers.challenge('ben', MODEL, Math.random));
  assert.equal(given.filter(Boolean).length, 16);
});

describe('the opinions of two verifiers', () => {
  const panel = { from: 0, isDoubleChecked: true, timeoutMs: 60_000, signal: new AbortController().signal };
  const job = { prompt: [1], answer: [2], hasEnd: false, sampling: trueAnswer('ann', 1).sampling };
  for (const [first, second, verdict] of casesOf<readonly (readonly [number, number, string])[]>('gateway', 'opinions'))
    it(`of deviations of ${first} and ${second} are ${verdict}: they may differ by 0.005 or a fifth`, async () => {
      const verifiers = [first, second].map((margin, i) => ({ peer: `v${i}`, score: async () => [margin] }));
      assert.equal((await judge(job, verifiers, panel)).verdict.kind, verdict);
    });
});

const runsOf = (answers: number, seed: number) =>
  new AuditRuns({ maxTokens: answers * sizeOf(trueAnswer('ann', 1)), random: randomFrom(seed) });

it('the runs of many workers are limited in number, and the selected answers of evicted runs are audited immediately', () => {
  const runs = runsOf(10, 1);
  const workers = Array.from({ length: 200 }, (_, i) => `w${i}`);
  // With such a small share no run ends by itself.
  const due = workers.flatMap((worker, i) => runs.add(trueAnswer(worker, i), 1e-6)).map(({ worker }) => worker);
  assert.ok(due.length >= 188 && due.length <= 190, `${due.length}`);
  assert.deepEqual(due, workers.slice(0, due.length), 'those longest without an answer');
});

it('the runs of many workers are independent for each worker, and dropped runs are not audited', () => {
  const runs = runsOf(1_000, 2);
  const audited = { ann: 0, ben: 0 };
  for (let request = 0; request < 1_000; request += 1) {
    for (const worker of ['ann', 'ben'] as const) audited[worker] += runs.add(trueAnswer(worker, request), 0.02).length;
    if (request % 10 === 0) runs.forget('ben');
  }
  assert.ok(audited.ann === 20 || audited.ann === 19);
  assert.ok(audited.ben > 5, 'and yet a worker that is forgotten again and again is not free');
});

it('the runs of many workers select a long answer four times as often as a short one, but also short ones', () => {
  const runs = runsOf(1_000, 3);
  const long = { answer: Array.from({ length: 300 }, () => 7), from: 0 };
  const drawn = trueAnswers('ann', 20_000).flatMap((answer, i) =>
    runs.add(i % 2 ? answer : { ...answer, ...long }, 0.1),
  );
  const ofLong = drawn.filter(({ answer }) => answer.length > ANSWER_TOKENS).length;
  const ratio = ofLong / (drawn.length - ofLong);
  assert.ok(ratio > 3 && ratio < 5.3, `${ratio}`);
});

it('an answer with the maximum number of queued tokens is queued, a larger one is not', () => {
  const answer = trueAnswer('ann', 1);
  const droppedAt = (maxTokens: number) => new AuditQueue({ maxAnswers: 1, maxTokens }).push(answer);
  assert.deepEqual([sizeOf(answer), sizeOf(answer) - 1].map(droppedAt), [[], [answer]]);
});

type End = readonly [what: string, more: Partial<ObservedAnswer> & { tokens: number; free?: number }, ...boolean[]];
for (const [what, { tokens, free, ...more }, isShort, isDrawn] of casesOf<readonly End[]>('gateway', 'ends of answers'))
  it(`an answer is ${isShort ? '' : 'not '}cut short, and its end is ${isDrawn ? '' : 'not '}drawn: ${what}`, () => {
    const [answer, prompt] = [Array(tokens).fill(7), Array(CONTEXT - (free ?? CONTEXT)).fill(1)];
    const ended = { ...trueAnswer('ann', 1), answer, maxTokens: 200, reason: 'length' as const, ...more };
    const observed = free === undefined ? ended : { ...ended, prompt };
    assert.deepEqual([isCutShort(observed), hasDrawnEnd(observed)], [isShort, isDrawn]);
  });
