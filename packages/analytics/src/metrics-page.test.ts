import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import type { Posture } from '@strata/detect';
import { bandOf } from './questions/concentration.ts';
import { MIN_SUPPORT } from './questions/neighbours.ts';
import { TREND_DAYS } from './questions/providers.ts';
import { assessRisk, riskLevel } from './questions/risk.ts';
import { COUNTED_STANDARDS } from './questions/scorecard.ts';

const page = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

it('docs/metrics.md has every factor of the risk with its part and weight', () => {
  const posture = { factors: [] } as unknown as Posture;
  const nothing = { posture, services: [], ownerOf: String, exposure: null, hhiOf: () => null };
  const { security, vendorConcentration } = assessRisk(nothing);
  const rows = [...page.matchAll(/^\| (security|vendor_concentration) \| `(\w+)` \| (0\.\d\d) \|/gm)];
  const documented = rows.map(([, part, factor, weight]) => [part, factor, Number(weight)]);
  const coded = Object.entries({ security, vendor_concentration: vendorConcentration }).flatMap(([part, { factors }]) =>
    factors.map(({ factor, weight }) => [part, factor, weight]),
  );
  assert.deepEqual(documented, coded);
});
it('docs/metrics.md has the limits that the code goes by', () => {
  const [, moderate, high] = /`unconcentrated` below (\d,\d+), `moderate` from \1 to (\d,\d+)/.exec(page) ?? [];
  const from = (text: string | undefined) => Number(text?.replace(',', ''));
  const bands = [from(moderate) - 1, from(moderate), from(high), from(high) + 1].map(bandOf);
  assert.deepEqual(bands, ['unconcentrated', 'moderate', 'moderate', 'high']);
  const levels = /Levels: low below (\d+), medium below (\d+), high below (\d+), critical from there/.exec(page);
  const limits = levels?.slice(1).map(Number) ?? [];
  const around = limits.flatMap((limit) => [riskLevel(limit - 1), riskLevel(limit)]);
  assert.deepEqual(around, ['low', 'medium', 'medium', 'high', 'high', 'critical']);
  assert.ok(page.includes(`pairs below ${MIN_SUPPORT} are left out`));
  assert.ok(page.includes(`today and the ${TREND_DAYS - 1} days before`));
});
it('docs/metrics.md names every standard that is counted', () => {
  const isPolicy = (standard: string) => /^dmarc_(effective_)?(none|quarantine|reject)$/.test(standard);
  for (const standard of COUNTED_STANDARDS) assert.ok(page.includes(`\`${standard}\``) || isPolicy(standard), standard);
});
