import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainFactor } from './explain-factor.ts';
import { assessPosture } from './posture.ts';
import type { PostureFactor } from './posture-type.ts';
import { best } from './test/best-posture.ts';
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';

const postureOf = (parts: EvidenceParts) => assessPosture(evidenceOf(parts));
describe('a factor in words', () => {
  it('tells the record and nothing to do where it passes', () => {
    const posture = postureOf(best);
    const spf = posture.factors[0] as PostureFactor;
    assert.deepEqual(explainFactor(posture, spf), { id: 'spf.pass', evidence: 'v=spf1 mx -all', advice: null });
  });
  it('tells where in another record the mistake stands', () => {
    const policies = { spf: { '_spf.a.test': ['v=spf1 nonsense'] } };
    const posture = postureOf({ ...best, txt: ['v=spf1 include:_spf.a.test -all'], policies });
    const { id, evidence, advice } = explainFactor(posture, posture.factors[0] as PostureFactor);
    assert.deepEqual([id, evidence], ['spf.syntax', 'syntax in _spf.a.test: nonsense']);
    assert.match(advice ?? '', /^Correct the term/);
  });

  it('tells what the gravest issue rests on, and not what else is remarked', () => {
    const evidenceFor = (txt: string, spf: Record<string, string[]> = {}) => {
      const posture = postureOf({ ...best, txt: [txt], policies: { spf } });
      const { id, evidence } = explainFactor(posture, posture.factors[0] as PostureFactor);
      return [id, evidence];
    };
    assert.deepEqual(evidenceFor('v=spf1 x=1 mx -all'), ['spf.pass', 'v=spf1 x=1 mx -all']);
    assert.deepEqual(evidenceFor('v=spf1 x=1 include:a.test include:b.test -all', { 'a.test': [], 'b.test': [] }), [
      'spf.dead-include',
      'include-without-policy in example.com: include:a.test',
    ]);
    assert.deepEqual(evidenceFor('v=spf1 ip4:10.0.0.0/12 +all'), ['spf.open', 'v=spf1 ip4:10.0.0.0/12 +all']);
    const unreadable = 'unreadable-record in example.com: v=spf1; mx -all';
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
