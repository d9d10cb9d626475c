// Challenges: what is given to verifiers, and who passes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODEL, seeded, trueAnswer, truth } from '../test/network/audited-network.ts';
import { isPassed, KnownAnswers } from './audit-challenge.ts';

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
