import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Posture } from '@strata/detect';
import { bandOf } from './concentration.ts';
import { LEAST_SUPPORT } from './neighbours.ts';
import { TREND_DAYS } from './providers.ts';
import { assessRisk, riskLevel } from './risk.ts';
import { COUNTED_STANDARDS } from './scorecard.ts';

const page = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

describe('docs/metrics.md', () => {
  it('has every factor of the risk with its part and weight', () => {
    const posture = { factors: [] } as unknown as Posture;
    const nothing = { posture, services: [], ownerOf: String, exposure: null, hhiOf: () => null };
    const { security, vendorConcentration } = assessRisk(nothing);
    const rows = [...page.matchAll(/^\| (security|vendor_concentration) \| `(\w+)` \| (0\.\d\d) \|/gm)];
    assert.deepEqual(
      rows.map(([, part, factor, weight]) => [part, factor, Number(weight)]),
      [
        ...security.factors.map(({ factor, weight }) => ['security', factor, weight]),
        ...vendorConcentration.factors.map(({ factor, weight }) => ['vendor_concentration', factor, weight]),
      ],
    );
  });

  it('has the limits that the code goes by', () => {
    const [, moderate, high] = /`unconcentrated` below (\d,\d+), `moderate` from \1 to (\d,\d+)/.exec(page) ?? [];
    const from = (text: string | undefined) => Number(text?.replace(',', ''));
    assert.deepEqual([from(moderate) - 1, from(moderate), from(high), from(high) + 1].map(bandOf), [
      ...['unconcentrated', 'moderate', 'moderate', 'high'],
    ]);
    const levels =
      /Levels: low below (\d+), medium below (\d+), high below (\d+), critical from there/.exec(page) ?? [];
    const limits = levels.slice(1).map(Number);
    const below = limits.map((limit) => riskLevel(limit - 1));
    assert.deepEqual(below, ['low', 'medium', 'high']);
    assert.deepEqual(limits.map(riskLevel), ['medium', 'high', 'critical']);
    assert.ok(page.includes(`pairs below ${LEAST_SUPPORT} are left out`));
    assert.ok(page.includes(`today and the ${TREND_DAYS - 1} days before`));
  });

  it('names every standard that is counted', () => {
    for (const standard of COUNTED_STANDARDS) {
      const isNamed =
        page.includes(`\`${standard}\``) || /^dmarc_(effective_)?(none|quarantine|reject)$/.test(standard);
      assert.ok(isNamed, standard);
    }
  });
});
