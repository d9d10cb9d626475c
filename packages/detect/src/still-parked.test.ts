import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import { stillParked } from './still-parked.ts';
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { linesOf, testRulebook } from './test/rulebook-of.ts';

const whole: EvidenceParts = {
  ns: ['ns1.dnsco.test'],
  txt: ['v=spf1 include:sendy.test -all', 'socially-verification=1'],
  tls: { issuer: 'Certy' },
  http: { page: { title: 'example.com is for sale' } },
};
const profileOf = (parts: EvidenceParts = {}) => detect(evidenceOf({ ...whole, ...parts }), testRulebook);
const before = { state: 'parked', rulebook: testRulebook.version };

describe('a domain that was parked', () => {
  it('is still while its page, its name servers or its exchanges cannot be had, and brings nothing in', () => {
    assert.equal(profileOf().state, 'parked');
    const failures: EvidenceParts[] = [
      { http: { status: 'timeout', url: null, statusCode: null } },
      { http: { status: 'blocked', statusCode: 403 } },
      { http: { statusCode: 503 } },
      { mx: 'timeout' },
    ];
    for (const failure of failures) {
      const kept = stillParked(profileOf(failure), before);
      assert.deepEqual([kept.state, linesOf(kept.services)], ['parked', ['dns dnsco high']], JSON.stringify(failure));
      assert.deepEqual([kept.roles.sender, kept.roles.dns], ['unmeasured', 'observed']);
    }
  });

  it('is in use once all of it was looked at, or under other rules', () => {
    const inUse = profileOf({ http: { page: { title: 'Welcome' } } });
    assert.equal(stillParked(inUse, before), inUse);
    const unseen = profileOf({ http: { status: 'timeout', url: null, statusCode: null } });
    assert.equal(stillParked(unseen, { ...before, rulebook: 'another' }), unseen);
    assert.equal(stillParked(unseen, { ...before, state: 'active' }), unseen);
  });
});
