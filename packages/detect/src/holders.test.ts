import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { detect } from './detect.ts';
import { HOLDERS, type Holder, holderAt, packHolders } from './holders.ts';
import { ROLES, type Role } from './profile.ts';
import { type EvidenceParts, everyRecord, evidenceOf } from './test/evidence-of.ts';
import { noLabels, testRulebook } from './test/rulebook-of.ts';

const roles: readonly Role[] = Object.values(ROLES);
/** Looked at in full: every label asked for, the networks of web and mail known to nobody, a certificate of an unknown issuer. */
const measured: EvidenceParts = {
  named: noLabels,
  addresses: [{ asn: 64997 }, { asn: 64998, use: 'mail' }, { asn: 64996, use: 'ns' }],
  tls: { issuer: 'Anybody' },
};
const holdersOf = (parts: EvidenceParts) => detect(evidenceOf({ ...measured, ...parts }), testRulebook).holders;

describe('who holds a role', () => {
  const table: [why: string, parts: EvidenceParts, role: Role, holder: Holder][] = [
    ['name servers below the domain itself', { ns: ['ns1.example.com', 'ns2.example.com'] }, 'dns', 'self'],
    ['own and foreign name servers', { ns: ['ns1.example.com', 'ns.nobody-knows.test'] }, 'dns', 'unknown'],
    ['a name that only ends like the domain', { ns: ['ns.notexample.com'] }, 'dns', 'unknown'],
    ['name servers that cannot be asked for', { ns: 'servfail' }, 'dns', 'unmeasured'],
    ['a known mailbox', { mx: ['10 aspmx.l.googly.test'] }, 'mailbox', 'provider'],
    ['own mail exchanges', { mx: ['10 mail.example.com'] }, 'mailbox', 'self'],
    ['an own exchange before a foreign one', { mx: ['10 mx.example.com', '20 mx.backup.test'] }, 'mailbox', 'self'],
    ['a foreign exchange before an own one', { mx: ['10 mx.backup.test', '20 mx.example.com'] }, 'mailbox', 'unknown'],
    ['null MX', { mx: ['0 '] }, 'mailbox', 'nobody'],
    ['a gateway that hides the mailbox', { mx: ['10 mx.guard.test'] }, 'mailbox', 'unknown'],
    ['a known cloud', { addresses: [{ asn: 64499 }] }, 'origin', 'provider'],
    ['an address of nobody we know', {}, 'origin', 'unknown'],
    ['an edge that hides the origin', { addresses: [{ asn: 64496 }] }, 'origin', 'unknown'],
    ['no address at all', { a: [] }, 'origin', 'nobody'],
    ['a known issuer', { tls: { issuer: 'Certy' } }, 'issuer', 'provider'],
    ['an unknown issuer', {}, 'issuer', 'unknown'],
    ['no CDN', {}, 'edge', 'nobody'],
    ['no gateway', { mx: ['10 aspmx.l.googly.test'] }, 'gateway', 'nobody'],
  ];
  for (const [why, parts, role, holder] of table)
    it(`is ${holder} for ${role} with ${why}`, () => assert.equal(holdersOf(parts)[role], holder));
  it('is nobody in any role of a name that does not exist, and nobody knows who when that cannot be told', () => {
    const gone = holdersOf(everyRecord('nxdomain'));
    assert.deepEqual(new Set(roles.map((role) => gone[role])), new Set(['nobody']));
    const silent = holdersOf(everyRecord('timeout'));
    for (const role of ['dns', 'mailbox', 'origin'] as const) assert.equal(silent[role], 'unmeasured', role);
  });
});

describe('holders as one integer', () => {
  it('give back each holder at its place', () => {
    const each = fc.record(Object.fromEntries(roles.map((role) => [role, fc.constantFrom(...HOLDERS)])));
    holds(100, [each as fc.Arbitrary<Record<Role, Holder>>], (given) => {
      const bits = packHolders(given);
      assert.ok(Number.isInteger(bits) && bits >= 0 && bits < 2 ** 31);
      assert.deepEqual(Object.fromEntries(roles.map((role, i) => [role, holderAt(bits, i)])), { ...given });
    });
  });
  it('read as not measured where nothing was kept', () => {
    assert.deepEqual(new Set(roles.map((_, i) => holderAt(0, i))), new Set(['unmeasured']));
    // Three bits could say more than there is.
    assert.equal(holderAt(7, 0), 'unmeasured');
  });
});
