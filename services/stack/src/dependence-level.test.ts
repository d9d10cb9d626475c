import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dependenceLevel } from './dependence-level.ts';

describe('the level of dependence on a provider', () => {
  const chainOf = (share: number, band: string, [dependent, sole]: readonly [number, number]) =>
    dependenceLevel(
      {
        markets: [{ share, market: { band, category: 'dns', hhi: 1_234.5 } }],
        dependentDomains: dependent,
        soleSourceDomains: sole,
      } as unknown as Parameters<typeof dependenceLevel>[0],
      { name: 'X', domains: 1_000 },
    );
  for (const [share, band, counts, level, reasons] of [
    [0.5, 'high', [9, 0], 'critical', ['X holds 50.0 % of dns (HHI 1235, high).']],
    [0.499, 'high', [9, 0], 'high', ['X holds 49.9 % of dns (HHI 1235, high).']],
    [0.3, 'moderate', [9, 0], 'high', ['X holds 30.0 % of dns (HHI 1235, moderate).']],
    [0.299, 'moderate', [9, 0], 'medium', ['X holds 29.9 % of dns (HHI 1235, moderate).']],
    [0.1, 'high', [0, 0], 'medium', ['X holds 10.0 % of dns (HHI 1235, high).']],
    [0.099, 'high', [99, 99], 'low', ['No market of enough known domains in which it holds 10 % or more.']],
    [0.9, 'insufficient_data', [99, 0], 'low', ['No market of enough known domains in which it holds 10 % or more.']],
    [0.9, 'insufficient_data', [100, 49], 'medium', ['10.0 % of all domains use it.']],
    [0, 'high', [299, 0], 'medium', ['29.9 % of all domains use it.']],
    [0, 'high', [300, 0], 'high', ['30.0 % of all domains use it.']],
    [
      ...([0.1, 'high', [300, 150], 'high'] as const),
      [
        'X holds 10.0 % of dns (HHI 1235, high).',
        '30.0 % of all domains use it.',
        '50.0 % of its domains have nobody else in a category.',
      ],
    ],
  ] as const)
    it(`${share} of a market (${band}), ${counts.join(' and ')} of 1,000 domains: ${level}`, () =>
      assert.deepEqual(chainOf(share, band, counts), { risk_level: level, reasons }));

  it('is low where there are no domains', () => {
    const none = { markets: [], dependentDomains: 0, soleSourceDomains: 0 } as unknown as Parameters<
      typeof dependenceLevel
    >[0];
    assert.equal(dependenceLevel(none, { name: 'X', domains: 0 }).risk_level, 'low');
  });
});
