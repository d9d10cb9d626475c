// Runs of many workers: bounded, whoever comes and goes, and nothing drawn is lost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANSWER_TOKENS, seeded, trueAnswer } from '../test/network/audited-network.ts';
import { AuditRuns } from './audit-runs.ts';
import { sizeOf } from './trust.ts';

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
