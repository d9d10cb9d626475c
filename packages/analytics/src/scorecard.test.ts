import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { POSTURE_FLAGS, type PostureFlag, SECTORS } from '@strata/detect';
import { holds } from '../../../tests/support/property.ts';
import type { IndexedDomain } from './domain-index.ts';
import { type Adoption, COUNTED_STANDARDS, scorecard } from './scorecard.ts';
import { indexOf, plainDomains } from './test/firms.ts';
import { manyDomains } from './test/random-domains.ts';

const has = ({ posture }: IndexedDomain, flag: PostureFlag) => ((posture >>> POSTURE_FLAGS.indexOf(flag)) & 1) === 1;
const bits = (...flags: PostureFlag[]) => flags.reduce((all, flag) => all | (1 << POSTURE_FLAGS.indexOf(flag)), 0);
const exists = ({ state }: IndexedDomain) => state === 'active' || state === 'parked';

/** The flag of a counted standard, and the one that says that it was looked for: `dmarc_reject` is in `dmarc_measured`. */
function flagsOf(standard: string): readonly [PostureFlag, PostureFlag] {
  const families = ['spf', 'dmarc', 'mta_sts', 'tls_rpt', 'dnssec', 'caa', 'bimi', 'tls'];
  const family = families.find((name) => standard === name || standard.startsWith(`${name}_`));
  const flag = standard === 'spf' || standard === 'dmarc' ? `${standard}_valid` : standard;
  return [flag as PostureFlag, `${family}_measured` as PostureFlag];
}

function expectAdoption(found: Readonly<Record<string, Adoption>>, domains: readonly IndexedDomain[]): void {
  for (const standard of COUNTED_STANDARDS) {
    const [flag, measuredBy] = flagsOf(standard);
    const measured = domains.filter((domain) => has(domain, measuredBy)).length;
    const having = domains.filter((domain) => has(domain, flag)).length;
    const share = measured === 0 ? null : having / measured;
    assert.deepEqual(found[standard], { domains: having, measured, share }, standard);
  }
}

function meanScore(domains: readonly IndexedDomain[]): number | null {
  const scores = domains.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/** docs/detection.md: A+ from 95, A from 85, B from 70, C from 50, D from 30, F below. */
const GRADES = [
  ['A+', 95, 100],
  ['A', 85, 94],
  ['B', 70, 84],
  ['C', 50, 69],
  ['D', 30, 49],
  ['F', 0, 29],
] as const;

describe('the scorecard', () => {
  it('counts what a walk over all domains that exist counts, by sector and in all', () =>
    holds(40, [manyDomains(120)], (domains) => {
      const live = domains
        .filter(exists)
        .map((domain) => ({ ...domain, sector: SECTORS.find((each) => each === domain.sector) ?? 'unknown' }));
      const card = scorecard(indexOf(domains));
      assert.equal(card.domains, live.length);
      expectAdoption(card.adoption, live);
      assert.equal(card.meanScore, meanScore(live));
      assert.equal(card.scored, live.filter(({ score }) => score !== null).length);
      assert.deepEqual(
        card.grades,
        GRADES.map(([grade, from, to]) => ({
          grade,
          domains: live.filter(({ score }) => score !== null && score >= from && score <= to).length,
        })),
      );
      const measured = live.filter((domain) => has(domain, 'spf_measured') && has(domain, 'dmarc_measured')).length;
      const both = live.filter((domain) => has(domain, 'spf_valid') && has(domain, 'dmarc_valid')).length;
      assert.deepEqual(card.both, { domains: both, measured, share: measured === 0 ? null : both / measured });
      const sectors = SECTORS.filter((sector) => live.some((domain) => domain.sector === sector));
      assert.deepEqual(
        card.bySector.map(({ sector }) => sector),
        sectors,
      );
      for (const { sector, domains, adoption, meanScore: mean } of card.bySector) {
        const among = live.filter((domain) => domain.sector === sector);
        assert.equal(domains, among.length);
        assert.equal(mean, meanScore(among));
        expectAdoption(adoption, among);
      }
    }));

  it('worked out by hand: what could not be looked up is in no share', () => {
    const spf = bits('spf_measured', 'spf_valid', 'spf_fail');
    const dmarc = bits('dmarc_measured', 'dmarc_valid', 'dmarc_reject', 'dmarc_effective_quarantine');
    const domains = plainDomains(
      [3, { posture: spf | dmarc, score: 90 }],
      [2, { posture: spf | bits('dmarc_measured'), score: 40 }],
      [4, { posture: bits('spf_measured') }],
      [1, { posture: 0 }],
      [5, { posture: spf | dmarc, score: 100, state: 'nonexistent' }],
    );
    const card = scorecard(indexOf(domains));
    assert.equal(card.domains, 10);
    const { spf: sender, spf_fail, dmarc: policy, dmarc_reject, dnssec } = card.adoption;
    const { dmarc_effective_reject, dmarc_effective_quarantine } = card.adoption;
    for (const adoption of [sender, spf_fail]) assert.deepEqual(adoption, { domains: 5, measured: 9, share: 5 / 9 });
    for (const adoption of [policy, dmarc_reject, dmarc_effective_quarantine, card.both])
      assert.deepEqual(adoption, { domains: 3, measured: 5, share: 0.6 });
    assert.deepEqual(dmarc_effective_reject, { domains: 0, measured: 5, share: 0 });
    assert.deepEqual(dnssec, { domains: 0, measured: 0, share: null });
    assert.deepEqual([card.scored, card.meanScore], [5, 70]);
  });
});
