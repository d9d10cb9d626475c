import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { dependenceLevel } from './dependence-level.ts';

function levelOf(roleMarkets: readonly object[], [dependentDomains, soleSourceDomains]: readonly [number, number]) {
  const chain = { roleMarkets, dependentDomains, soleSourceDomains } as unknown as Parameters<
    typeof dependenceLevel
  >[0];
  return (domains: number) => dependenceLevel(chain, { name: 'X', domains });
}

for (const [share, band, counts, level, reasons] of casesOf<[number, string, [number, number], string, string][]>(
  'stack',
  'levels of dependence',
))
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
