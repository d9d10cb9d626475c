// The parts of an audit: challenges of verifiers, runs of answers, and ends and texts that need no model.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANSWER_TOKENS, CONTEXT, MODEL, seeded, trueAnswer, truth } from '../test/network/audited-network.ts';
import { isPassed, KnownAnswers } from './audit-challenge.ts';
import { hasDrawnEnd, isCutShort, isReadRight } from './audit-facts.ts';
import { AuditRuns } from './audit-runs.ts';
import { type SeenAnswer, sizeOf } from './trust.ts';

const never = new AbortController().signal;

function known(count: number, seenBy: readonly string[] = ['ann']): KnownAnswers {
  const answers = new KnownAnswers();
  for (let request = 0; request < count; request += 1) {
    const { prompt, answer, sampling } = trueAnswer('ann', request);
    answers.keep({ modelSha256: MODEL, seenBy, job: { prompt, answer, hasEnd: true, sampling } });
  }
  return answers;
}

describe('a challenge', () => {
  it('is passed by who looks, and failed by who always says the same', async () => {
    const random = seeded(3);
    let [unchanged, changed] = [0, 0];
    for (let round = 0; round < 100; round += 1) {
      const challenge = known(1).challenge('ben', MODEL, random);
      assert.ok(challenge);
      const { answer } = challenge.job;
      const constant = (margin: number) => Array.from({ length: answer.length + 1 }, () => margin);
      assert.equal(isPassed(challenge, await truth.score(challenge.job, never)), true);
      assert.equal(isPassed(challenge, constant(0)), challenge.changed.length === 0);
      assert.equal(isPassed(challenge, constant(5)), challenge.changed.length > 0);
      assert.equal(isPassed(challenge, []), false);
      if (challenge.changed.length === 0) unchanged += 1;
      else changed += 1;
    }
    assert.ok(unchanged > 20 && changed > 20, `${unchanged} and ${changed}`);
  });

  it('is never one that the verifier has seen, and each is given once', () => {
    const answers = known(3, ['ann', 'ben']);
    assert.equal(answers.challenge('ben', MODEL, Math.random), undefined);
    assert.equal(answers.challenge('cid', '00', Math.random), undefined);
    const given = [1, 2, 3, 4].map(() => answers.challenge('cid', MODEL, Math.random));
    assert.deepEqual(given.map(Boolean), [true, true, true, false]);
  });

  it('is kept for the newest sixteen answers', () => {
    const answers = known(40);
    let count = 0;
    while (answers.challenge('ben', MODEL, Math.random)) count += 1;
    assert.equal(count, 16);
  });
});

const SIZE = sizeOf(trueAnswer('ann', 1));

describe('the runs of many workers', () => {
  it('are no more than fit, and what was drawn of the others is audited at once', () => {
    const runs = new AuditRuns({ mostTokens: 10 * SIZE, random: seeded(1) });
    const workers = Array.from({ length: 200 }, (_, i) => `w${i}`);
    // At so small a share no run ends by itself.
    const due = workers.flatMap((worker, i) => runs.add(trueAnswer(worker, i), 1e-6));
    assert.ok(due.length >= 188 && due.length <= 190, `${due.length}`);
    assert.deepEqual(
      due.map(({ worker }) => worker),
      workers.slice(0, due.length),
      'those longest without an answer',
    );
  });

  it('are of each worker alone, and what is forgotten is not audited', () => {
    const runs = new AuditRuns({ mostTokens: 1_000 * SIZE, random: seeded(2) });
    const audited = { ann: 0, ben: 0 };
    for (let request = 0; request < 1_000; request += 1) {
      for (const worker of ['ann', 'ben'] as const)
        audited[worker] += runs.add(trueAnswer(worker, request), 0.02).length;
      if (request % 10 === 0) runs.forget('ben');
    }
    assert.ok(audited.ann === 20 || audited.ann === 19);
    assert.ok(audited.ben > 5, 'and yet a worker that is forgotten again and again is not free');
  });

  it('draw a long answer four times as often as a short one, and the short ones, too', () => {
    const runs = new AuditRuns({ mostTokens: 1_000 * SIZE, random: seeded(3) });
    const long = Array.from({ length: 100 }, () => 7);
    let [ofLong, ofShort] = [0, 0];
    for (let request = 0; request < 20_000; request += 1) {
      const answer = trueAnswer('ann', request);
      const given = request % 2 ? answer : { ...answer, answer: [...long, ...long, ...long], from: 0 };
      for (const { answer: drawn } of runs.add(given, 0.1)) {
        if (drawn.length > ANSWER_TOKENS) ofLong += 1;
        else ofShort += 1;
      }
    }
    assert.ok(ofLong / ofShort > 3 && ofLong / ofShort < 5.3, `${ofLong} and ${ofShort}`);
  });
});

const answerOf = (tokens: number, more: Partial<SeenAnswer> = {}): SeenAnswer => ({
  ...trueAnswer('ann', 1),
  answer: Array.from({ length: tokens }, () => 7),
  maxTokens: 200,
  reason: 'length',
  ...more,
});
const grammar = 'root ::= "a"+';

describe('an answer that is said to be at its limit', () => {
  const cases: [string, SeenAnswer, boolean][] = [
    ['at the limit', answerOf(200), false],
    ['one before it', answerOf(199), true],
    ['brought to a close by its grammar', answerOf(168, { grammar }), false],
    ['with a grammar, and closed too early', answerOf(167, { grammar }), true],
    ['a short one with a grammar, half of it', answerOf(5, { grammar, maxTokens: 10 }), false],
    ['in a full context', answerOf(100, { prompt: Array.from({ length: CONTEXT - 100 }, () => 1) }), false],
    ['ended by the model', answerOf(100, { reason: 'stop' }), false],
    ['cancelled', answerOf(100, { reason: 'cancelled' }), false],
  ];
  for (const [what, answer, isShort] of cases) {
    it(`is ${isShort ? '' : 'not '}cut short: ${what}`, () => assert.equal(isCutShort(answer), isShort));
  }
});

describe('the end of an answer', () => {
  it('is a draw of the model where it stopped, or where its grammar was brought to a close', () => {
    assert.equal(hasDrawnEnd(answerOf(100, { reason: 'stop' })), true);
    assert.equal(hasDrawnEnd(answerOf(180, { grammar })), true);
    for (const answer of [answerOf(200), answerOf(200, { grammar }), answerOf(9, { reason: 'cancelled' })])
      assert.equal(hasDrawnEnd(answer), false);
  });
});

describe('the text of an answer', () => {
  it('must be what its tokens read as, from where the worker began', async () => {
    const answer = trueAnswer('ann', 3);
    assert.equal(await isReadRight(answer, truth), true);
    assert.equal(await isReadRight({ ...answer, from: 1 }, truth), false);
    assert.equal(await isReadRight({ ...answer, text: Buffer.concat([answer.text, Buffer.from('!')]) }, truth), false);
  });
});
