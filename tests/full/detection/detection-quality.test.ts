// How far detection can be trusted: measured on companies whose stacks are hard to read, through a faulty network.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { entries } from '@strata/catalog';
import { compileRulebook, loadCatalog } from '@strata/detect';
import { createInternet } from '@strata/testnet';
import type { Quality } from '../../../bench/detection/detection-quality.ts';
import { commonMistakes, measureQuality, precision, recall } from '../../../bench/detection/detection-quality.ts';

describe('detection on the simulated internet, its faults on', () => {
  let quality: Quality;
  before(async () => {
    await using internet = await createInternet({ domains: 600, catalog: entries, feeds: 0 });
    const truths = internet.domains().map((domain) => internet.truth(domain));
    const rulebook = compileRulebook(loadCatalog(entries));
    quality = await measureQuality({ ...internet, truths }, rulebook, { concurrency: 48 });
  });
  it('has a precision of 99 % and a recall of 97 % of what has evidence', (test) => {
    const { all, byCategory } = quality;
    for (const [name, score] of byCategory)
      test.diagnostic(`${name.padEnd(22)} precision ${percent(precision(score))}, recall ${percent(recall(score))}`);
    for (const { what, count, example } of commonMistakes(quality, 12))
      test.diagnostic(`${count} × ${what}: ${example}`);
    assert.ok(precision(all) >= 0.99, `precision ${percent(precision(all))} of ${all.right + all.wrong}`);
    assert.ok(recall(all) >= 0.97, `recall ${percent(recall(all))} of ${all.visible}`);
  });
  it('means what it says by its levels of confidence', () => {
    const goals = { high: 0.995, medium: 0.95, low: 0.8 };
    for (const [level, goal] of Object.entries(goals)) {
      const { claims, right } = quality.byLevel.get(level) ?? assert.fail(`no claims are ${level}`);
      // Of few claims chance takes a share (one-sided, 95 %).
      const chance = claims < 100 ? 1.64 * Math.sqrt((goal * (1 - goal)) / claims) : 0;
      assert.ok(right / claims >= goal - chance, `${level}: ${claims} claims, ${percent(right / claims)} right`);
    }
  });
  it('is right of every category alone', () => {
    for (const [name, score] of quality.byCategory)
      assert.ok(precision(score) >= 0.95, `${name}: ${percent(precision(score))} of ${score.right + score.wrong}`);
  });
  it('knows what is for sale and what does not exist, and says nothing of a broken zone', () =>
    assert.deepEqual(quality.wrongStates, []));
});

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(share * 100).toFixed(2)} %`;
}
