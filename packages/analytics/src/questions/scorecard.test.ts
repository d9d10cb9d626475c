import assert from 'node:assert/strict';
import { it } from 'node:test';
import { POSTURE_FLAGS, type PostureFlag, SECTORS } from '@strata/detect';
import { holds } from '../../../../tests/support/property.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { indexOf } from '../test/firms.ts';
import { manyDomains } from '../test/random-domains.ts';
import { type Adoption, COUNTED_STANDARDS, scorecard } from './scorecard.ts';

const has = ({ posture }: IndexedDomain, flag: PostureFlag) => ((posture >>> POSTURE_FLAGS.indexOf(flag)) & 1) === 1;

function adoptionOf(domains: readonly IndexedDomain[], flags: PostureFlag[], measuredBy: PostureFlag[]): Adoption {
  const countOf = (each: PostureFlag[]) => domains.filter((domain) => each.every((flag) => has(domain, flag))).length;
  const [having, measured] = [countOf(flags), countOf(measuredBy)];
  return { domains: having, measured, share: measured === 0 ? null : having / measured };
}

/** The flag of a counted standard, and the flag of its measurement: `dmarc_reject` is in `dmarc_measured`. */
function flagsOf(standard: string): readonly [PostureFlag, PostureFlag] {
  const families = ['spf', 'dmarc', 'mta_sts', 'tls_rpt', 'dnssec', 'caa', 'bimi', 'tls'];
  const family = families.find((name) => standard === name || standard.startsWith(`${name}_`));
  const flag = standard === 'spf' || standard === 'dmarc' ? `${standard}_valid` : standard;
  return [flag as PostureFlag, `${family}_measured` as PostureFlag];
}

function expectAdoption(found: Readonly<Record<string, Adoption>>, domains: readonly IndexedDomain[]): void {
  for (const standard of COUNTED_STANDARDS) {
    const [flag, measuredBy] = flagsOf(standard);
    assert.deepEqual(found[standard], adoptionOf(domains, [flag], [measuredBy]), standard);
  }
}

function meanScore(domains: readonly IndexedDomain[]): number | null {
  const scores = domains.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/** docs/detection.md: A+ from 95, A from 85, B from 70, C from 50, D from 30, F below. */
const GRADES = ['A+', 'A', 'B', 'C', 'D', 'F'] as const;
const FROM = [95, 85, 70, 50, 30, 0];

it('the scorecard counts what a walk over all domains that exist counts, by sector and in all', () =>
  holds(40, [manyDomains(120)], (domains) => {
    const live = domains
      .filter(({ state }) => state === 'active' || state === 'parked')
      .map((domain) => ({ ...domain, sector: SECTORS.find((each) => each === domain.sector) ?? 'unknown' }));
    const card = scorecard(indexOf(domains));
    expectAdoption(card.adoption, live);
    const scored = live.filter(({ score }) => score !== null).length;
    assert.partialDeepStrictEqual(card, { domains: live.length, meanScore: meanScore(live), scored });
    const graded = GRADES.map((grade, i) => {
      const within = (score: number | null) =>
        score !== null && score >= (FROM[i] ?? 0) && score < (FROM[i - 1] ?? 101);
      return { grade, domains: live.filter(({ score }) => within(score)).length };
    });
    assert.deepEqual(card.grades, graded);
    const both = adoptionOf(live, ['spf_valid', 'dmarc_valid'], ['spf_measured', 'dmarc_measured']);
    assert.deepEqual(card.both, both);
    const sectors = SECTORS.filter((sector) => live.some((domain) => domain.sector === sector));
    assert.deepEqual(card.bySector.map(({ sector }) => sector).join(), sectors.join());
    for (const { sector, adoption, ...found } of card.bySector) {
      const among = live.filter((domain) => domain.sector === sector);
      assert.partialDeepStrictEqual(found, { domains: among.length, meanScore: meanScore(among) });
      expectAdoption(adoption, among);
    }
  }));
