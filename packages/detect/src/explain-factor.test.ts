import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainFactor } from './explain-factor.ts';
import type { PostureFactor } from './posture-type.ts';
import { best, postureOf } from './test/best-posture.ts';

describe('a factor in words', () => {
  const explained = (txt: string, spf: Record<string, string[]> = {}) => {
    const posture = postureOf({ ...best, txt: [txt], policies: { spf } });
    return explainFactor(posture, posture.factors[0] as PostureFactor);
  };
  const evidenceFor = (...given: Parameters<typeof explained>) => [
    explained(...given).id,
    explained(...given).evidence,
  ];

  it('is the record, and nothing to do, where it passes', () =>
    assert.deepEqual(explained('v=spf1 mx -all'), { id: 'spf.pass', evidence: 'v=spf1 mx -all', advice: null }));
  it('names the place of a mistake in another record', () => {
    const { id, evidence, advice } = explained('v=spf1 include:_spf.a.test -all', {
      '_spf.a.test': ['v=spf1 nonsense'],
    });
    assert.deepEqual([id, evidence], ['spf.syntax', 'syntax in _spf.a.test: nonsense']);
    assert.match(advice ?? '', /^Correct the term/);
  });

  it('rests on the gravest issue, and not on what else is remarked', () => {
    const dead = 'include-without-policy in example.com: include:a.test';
    const unreadable = 'unreadable-record in example.com: v=spf1; mx -all';
    assert.deepEqual(evidenceFor('v=spf1 x=1 mx -all'), ['spf.pass', 'v=spf1 x=1 mx -all']);
    const includes = evidenceFor('v=spf1 x=1 include:a.test include:b.test -all', { 'a.test': [], 'b.test': [] });
    assert.deepEqual(includes, ['spf.dead-include', dead]);
    assert.deepEqual(evidenceFor('v=spf1 ip4:10.0.0.0/12 +all'), ['spf.open', 'v=spf1 ip4:10.0.0.0/12 +all']);
    assert.deepEqual(evidenceFor('v=spf1; mx -all'), ['spf.unreadable', unreadable]);
  });

  it('has a sentence for each issue, and nothing for what was not measured', () => {
    for (const parts of [best, {}, { txt: 'timeout', dmarc: 'timeout' } as const, { ...best, mx: ['0 '] }]) {
      const posture = postureOf(parts);
      for (const factor of posture.factors) {
        const { id, evidence, advice } = explainFactor(posture, factor);
        assert.equal(advice === null, factor.issues.length === 0, id);
        assert.ok(id.startsWith(`${factor.factor}.`));
        if (factor.finding === 'unmeasured') assert.equal(evidence, null);
      }
    }
  });
});
