import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dependenceLevel } from './dependence-level.ts';

const NONE = 'It has 10 % or more in no market with sufficient data.';
const USED = '30.0 % of all domains use it.';

function levelOf(roleMarkets: readonly object[], [dependentDomains, soleSourceDomains]: readonly [number, number]) {
  const chain = { roleMarkets, dependentDomains, soleSourceDomains } as unknown as Parameters<
    typeof dependenceLevel
  >[0];
  return (domains: number) => dependenceLevel(chain, { name: 'X', domains });
}

for (const [share, band, counts, level, reasons] of [
  [0.5, 'high', [9, 0], 'critical', 'X holds 50.0 % of DNS (HHI 1235, high).'],
  [0.499, 'high', [9, 0], 'high', 'X holds 49.9 % of DNS (HHI 1235, high).'],
  [0.3, 'moderate', [9, 0], 'high', 'X holds 30.0 % of DNS (HHI 1235, moderate).'],
  [0.299, 'moderate', [9, 0], 'medium', 'X holds 29.9 % of DNS (HHI 1235, moderate).'],
  [0.1, 'high', [0, 0], 'medium', 'X holds 10.0 % of DNS (HHI 1235, high).'],
  [0.099, 'high', [99, 99], 'low', NONE],
  [0.9, 'insufficient_data', [99, 0], 'low', NONE],
  [0.9, 'insufficient_data', [100, 49], 'medium', '10.0 % of all domains use it.'],
  [0, 'high', [299, 0], 'medium', '29.9 % of all domains use it.'],
  [0, 'high', [300, 0], 'high', USED],
  [0, 'high', [300, 150], 'high', `${USED}|50.0 % of its domains have no other provider in a role.`],
  [0.1, 'high', [300, 0], 'high', `X holds 10.0 % of DNS (HHI 1235, high).|${USED}`],
] as const)
  it(`the level of dependence on a provider with ${share} of a market (${band}), ${counts.join(' and ')} of 1,000 domains: ${level}`, () => {
    const markets = [{ share, market: { band, role: 'dns', hhi: 1_234.5 } }];
    assert.deepEqual(levelOf(markets, counts)(1_000), { risk_level: level, reasons: reasons.split('|') });
  });

it('the level of dependence on a provider is low where there are no domains', () =>
  assert.equal(levelOf([], [0, 0])(0).risk_level, 'low'));
it('the level of dependence on a provider is at most medium by a role that nothing needs', () => {
  const market = { band: 'high', role: 'status_page', hhi: 8_100 };
  assert.equal(levelOf([{ share: 0.9, market }], [9, 0])(1_000).risk_level, 'medium');
});
