import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { POSTURE_FLAGS, type PostureFlag, SECTORS } from '@strata/detect';
import { holds } from '../../../tests/support/property.ts';
import type { IndexedDomain } from './domain-index.ts';
import { type Adoption, COUNTED_STANDARDS, scorecard } from './scorecard.ts';
import { indexOf } from './test/firms.ts';
import { manyDomains } from './test/random-domains.ts';

const has = ({ posture }: IndexedDomain, flag: PostureFlag) => ((posture >>> POSTURE_FLAGS.indexOf(flag)) & 1) === 1;
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
const GRADES = ['A+', 'A', 'B', 'C', 'D', 'F'] as const;
const FROM = [95, 85, 70, 50, 30, 0];

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
      const graded = GRADES.map((grade, i) => {
        const within = (score: number | null) =>
          score !== null && score >= (FROM[i] ?? 0) && score < (FROM[i - 1] ?? 101);
        return { grade, domains: live.filter(({ score }) => within(score)).length };
      });
      assert.deepEqual(card.grades, graded);
      const measured = live.filter((domain) => has(domain, 'spf_measured') && has(domain, 'dmarc_measured')).length;
      const both = live.filter((domain) => has(domain, 'spf_valid') && has(domain, 'dmarc_valid')).length;
      assert.deepEqual(card.both, { domains: both, measured, share: measured === 0 ? null : both / measured });
      const sectors = SECTORS.filter((sector) => live.some((domain) => domain.sector === sector));
      assert.deepEqual(
        Array.from(card.bySector, ({ sector }) => sector),
        sectors,
      );
      for (const { sector, domains, adoption, meanScore: mean } of card.bySector) {
        const among = live.filter((domain) => domain.sector === sector);
        assert.equal(domains, among.length);
        assert.equal(mean, meanScore(among));
        expectAdoption(adoption, among);
      }
    }));
});
