// docs/posture.md says what the code does: its tables of weights and of issues are the code's.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ISSUES } from './issues.ts';
import { assessPosture } from './posture.ts';
import { FACTORS } from './posture-type.ts';
import { SCORE_VERSION } from './score.ts';
import { best } from './test/best-posture.ts';
import { evidenceOf } from './test/evidence-of.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/posture.md'), 'utf8');

describe('docs/posture.md', () => {
  it('names the version of the score', () => {
    assert.ok(page.includes(`## The security score, version ${SCORE_VERSION}\n`));
  });

  it('has the weights of the code, with mail and without', () => {
    const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\d+) \|(?: (\d+))? \| [^|]+ \|$/gm)];
    const documented = rows.map(([, factor, weight, without]) => [
      factor,
      Number(weight),
      without === undefined ? null : Number(without),
    ]);
    const bimi = ['v=BIMI1; l=https://example.com/logo.svg'];
    const weights = (mx: readonly string[]) =>
      new Map(assessPosture(evidenceOf({ ...best, bimi, mx })).factors.map(({ factor, weight }) => [factor, weight]));
    const [withMail, withoutMail] = [weights(['10 mx.example.com']), weights(['0 '])];
    assert.deepEqual(
      documented,
      FACTORS.map((factor) => [factor, withMail.get(factor), withoutMail.get(factor) ?? null]),
    );
  });

  it('has every issue, what it costs and the advice', () => {
    const rows = [...page.matchAll(/^\| `([a-z_]+\.[a-z-]+)` \| (all|\d+) \| ([^|]+) \|$/gm)];
    const documented = rows.map(([, id, cost, advice]) => [
      id,
      cost === 'all' ? Number.POSITIVE_INFINITY : Number(cost),
      advice,
    ]);
    assert.deepEqual(
      documented,
      Object.entries(ISSUES).map(([id, { cost, advice }]) => [id, cost, advice]),
    );
  });
});
