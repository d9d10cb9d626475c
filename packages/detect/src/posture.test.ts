import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postureOf } from './test/best-posture.ts';
import type { EvidenceParts } from './test/evidence-of.ts';
import { hasMembers } from './test/rows.ts';

describe('the posture', () => {
  it('tells no record from no answer', () => {
    assert.equal(postureOf({}).spf.result, 'none');
    const { status, record, all, result, evaluation } = postureOf({ txt: 'timeout' }).spf;
    assert.deepEqual([status, record, all, result, evaluation], ['unmeasured', null, null, 'unmeasured', 'unmeasured']);
    const dnssecOf = (parts: EvidenceParts) => [postureOf(parts).dnssec.status, postureOf(parts).dnssec.isSigned];
    assert.deepEqual(dnssecOf({ ds: 'servfail' }), ['unmeasured', null]);
    assert.deepEqual(dnssecOf({}), ['absent', false]);
  });

  it('gives the published and the effective policy', () => {
    const record = 'v=DMARC1; p=reject; sp=quarantine; t=y; rua=mailto:a@b.test';
    hasMembers(postureOf({ dmarc: [record] }).dmarc, {
      ...{ status: 'observed', record, foundAt: 'example.com', isInherited: false, isTesting: true, problems: [] },
      ...{ policy: 'reject', subdomainPolicy: 'quarantine', nonexistentPolicy: 'quarantine' },
      ...{ effectivePolicy: 'quarantine', effectiveSubdomainPolicy: 'none', effectiveNonexistentPolicy: 'none' },
      ...{ hasReporting: true, reporting: 'unknown', refusingHosts: [] },
    });
  });

  it('lists selectors that hold a key, and no revoked ones', () => {
    const [key, revoked] = [['v=DKIM1; k=rsa; p=MIGf'], ['v=DKIM1; p=']];
    const named = { 's1._domainkey': key, 'selector1._domainkey': revoked, autodiscover: ['p=x'] };
    const { status, selectors, keys } = postureOf({ named }).dkim;
    const problems = keys.map(({ selector, problem }) => `${selector} ${problem}`);
    assert.deepEqual([status, selectors, problems], ['observed', ['s1'], ['s1 unreadable', 'selector1 revoked']]);
    const statusOf = (labels?: EvidenceParts['named']) => postureOf(labels ? { named: labels } : {}).dkim.status;
    assert.equal(statusOf({ 's1._domainkey': 'nxdomain' }), 'absent');
    assert.equal(statusOf({ 's1._domainkey': 'nxdomain', 's2._domainkey': 'timeout' }), 'unmeasured');
    assert.equal(statusOf(), 'unmeasured');
    // A failed look-up of another kind of name says nothing about keys.
    assert.equal(statusOf({ 's1._domainkey': 'nxdomain', autodiscover: 'timeout' }), 'absent');
  });

  it('keeps records fit to be stored and signed', () => {
    const { record } = postureOf({ txt: [`v=spf1 \u0000\ud800${'x'.repeat(70_000)}`] }).spf;
    assert.equal(record?.length, 2048);
    assert.ok(record?.isWellFormed() && !record.includes('\u0000'));
  });
});
