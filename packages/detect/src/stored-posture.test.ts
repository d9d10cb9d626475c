import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainFactor } from './explain-factor.ts';
import { restorePosture, type StoredPosture, shortenPosture } from './stored-posture.ts';
import { best, postureOf } from './test/best-posture.ts';
import { type EvidenceParts, everyRecord } from './test/evidence-of.ts';

const throughText = (stored: StoredPosture) => JSON.parse(JSON.stringify(stored)) as StoredPosture;

describe('a stored posture', () => {
  const failing = { txt: 'timeout', dmarc: 'timeout', ds: 'servfail', caa: 'timeout', bimi: 'timeout' } as const;
  const cases: readonly EvidenceParts[] = [
    best,
    {},
    failing,
    { ...best, mx: ['0 '] },
    { ...best, a: 'empty' },
    { ...best, ...failing, named: { 's1._domainkey': ['p=AAAA'] } },
    { ...best, txt: ['v=spf1 ptr include:a.test exists:%{i}.b.test ip4:10.0.0.0/8 ~all'], dmarc: ['v=DMARC1; pct=5'] },
    everyRecord('nxdomain'),
  ];
  it('is restored to what it was', () => {
    for (const parts of cases) {
      const posture = postureOf(parts);
      assert.deepEqual(restorePosture(throughText(shortenPosture(posture))), posture);
    }
  });
  it('is short where there is little to say', () => {
    const posture = postureOf({});
    assert.ok(JSON.stringify(shortenPosture(posture)).length < 0.65 * JSON.stringify(posture).length);
  });
});

describe('a posture stored by an earlier version', () => {
  const { policies: _, files: __, ...earlier } = best;
  const { hsts: _h, headers: _e, securityTxt: _s, ...old } = postureOf(earlier);
  const factors = old.factors.map(({ factor, finding, points, possible }) => ({ factor, finding, points, possible }));
  const dkim = { status: old.dkim.status, selectors: [] };
  const stored: StoredPosture = { ...old, dkim, factors, scoreVersion: '1' };

  it('is read whole, with its own score', () => {
    const posture = restorePosture(throughText(stored));
    assert.deepEqual([posture.score, posture.scoreVersion], [old.score, '1']);
    assert.deepEqual([posture.hsts.status, posture.dkim.keys, posture.spf.record], ['unmeasured', [], old.spf.record]);
    assert.deepEqual(Object.keys(posture).sort(), Object.keys(postureOf(best)).sort());
    for (const factor of posture.factors) assert.equal(explainFactor(posture, factor).advice, null);
  });
});
