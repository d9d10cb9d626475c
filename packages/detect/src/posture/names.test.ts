// What a domain publishes in the DNS beside mail: DNSSEC, CAA, BIMI.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assessPosture } from '../posture.ts';
import type { Posture } from '../posture-type.ts';
import { factorIn } from '../test/best-posture.ts';
import { type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';
import { hasMembers, rows } from '../test/rows.ts';
import { testRulebook } from '../test/rulebook-of.ts';

const postureOf = (parts: EvidenceParts) => assessPosture(evidenceOf(parts), testRulebook);
const ds = (algorithm: number, digestType = 2) => ({ keyTag: 1, algorithm, digestType, digest: 'ab' });

describe('DNSSEC', () => {
  const table: [why: string, records: ReturnType<typeof ds>[], isWeak: boolean | null, algorithms: number[]][] = [
    ['ECDSA', [ds(13)], false, [13]],
    ['Ed25519 with SHA-384', [ds(15, 4)], false, [15]],
    ['RSA with SHA-256', [ds(8)], false, [8]],
    ['RSA with SHA-1', [ds(5)], true, [5]],
    ['RSA with SHA-1 beside ECDSA, in a roll-over', [ds(7), ds(13)], true, [7, 13]],
    ['a SHA-1 digest alone', [ds(13, 1)], true, [13]],
    ['a SHA-1 digest beside a better one', [ds(13, 1), ds(13, 2)], false, [13]],
    ['GOST', [ds(12, 3)], true, [12]],
    ['the newer GOST', [ds(23)], false, [23]],
    ['no DS', [], null, []],
  ];
  for (const [why, records, isWeak, algorithms] of table) {
    it(`with ${why} is ${isWeak === null ? 'not there' : isWeak ? 'weak' : 'in order'}`, () => {
      const { dnssec } = postureOf({ ds: records });
      assert.deepEqual([dnssec.isWeak, dnssec.algorithms], [isWeak, algorithms]);
    });
  }
  it('is validated where the resolver does so', () => {
    assert.equal(postureOf({ ds: [ds(13)] }).dnssec.validation, 'unknown');
    assert.equal(postureOf({ ds: [ds(13)], policies: { validation: 'bogus' } }).dnssec.validation, 'bogus');
  });
});

describe('CAA', () => {
  const listed = ['0 issue b.test; x=1', '0 issuewild a.test', '0 issue ;', '0 iodef mailto:c@c.test'];
  const issuers: Partial<Posture['caa']> = { issuers: ['a.test', 'b.test'], wildcardIssuers: ['a.test'] };
  rows(
    (caa: string[], expected: Partial<Posture['caa']>) => hasMembers(postureOf({ caa }).caa, expected),
    [
      ['lists who may issue, without parameters', listed, { status: 'observed', isRestricted: true, ...issuers }],
      ['has a contact for incidents', listed, { hasIncidentContact: true }],
      ['may permit nobody', ['0 issue ;'], { issuers: [], isRestricted: true }],
      ['limits nobody without an issue property', ['0 iodef mailto:c@c.test'], { isRestricted: false }],
      ['limits nobody but for wildcards', ['0 issuewild a.test'], { isRestricted: false, issuers: ['a.test'] }],
      ['has properties that nobody knows', ['0 issue a.test', '0 future x'], { unknownCritical: [] }],
      ['has critical ones', ['0 issue a.test', '128 future x', '128 issue b.test'], { unknownCritical: ['future'] }],
    ],
  );

  it('says whether the certificate’s authority is permitted, where both are known', () => {
    const tls = { issuer: 'Certy' };
    for (const [caa, parts, permits] of [
      [['0 issue certy.test'], { tls }, true],
      [['0 issue signly.test'], { tls }, false],
      [['0 issue signly.test', '0 issue unheard.test'], { tls }, null],
      [['0 issue certy.test'], { tls: { issuer: 'Nobody Knows' } }, null],
      [['0 issue certy.test'], { tls: { ...tls, isTrusted: false } }, null],
    ] as const) {
      assert.equal(postureOf({ caa, ...parts }).caa.permitsIssuer, permits, JSON.stringify([caa, parts]));
    }
    assert.equal(assessPosture(evidenceOf({ caa: ['0 issue certy.test'], tls })).caa.permitsIssuer, null);
  });
});

describe('BIMI', () => {
  const logo = 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/vmc.pem';
  const bimiOf = (bimi: string[], dmarc = 'v=DMARC1; p=reject') => postureOf({ bimi, dmarc: [dmarc] }).bimi;

  it('has a logo and a certificate', () => {
    const all = { hasRecord: true, hasLogo: true, hasCertificate: true, isEligible: true };
    assert.deepEqual(bimiOf([logo]), { status: 'observed', ...all });
    assert.equal(bimiOf(['v=BIMI1; l=https://example.com/logo.svg?v=2']).hasLogo, true);
    for (const other of ['', ' l=http://example.com/logo.svg', ' l=https://example.com/logo.png'])
      assert.equal(bimiOf([`v=BIMI1;${other}`]).hasLogo, false, other);
  });

  it('is shown under an enforced policy only, for names below too', () => {
    for (const tags of ['p=none', 'p=reject; sp=none', 'p=quarantine; t=y', 'p=quarantine'])
      assert.equal(bimiOf([logo], `v=DMARC1; ${tags}`).isEligible, tags === 'p=quarantine', tags);
  });
  it('may be declined, and then lacks nothing', () => {
    const posture = postureOf({ bimi: ['v=BIMI1; l=; a=;'], dmarc: ['v=DMARC1; p=none'] });
    assert.deepEqual([posture.bimi.hasLogo, posture.bimi.hasCertificate], [null, false]);
    assert.deepEqual(factorIn(posture, 'bimi')?.issues, []);
  });
  it('is not said to be refused while the policy is not known', () => {
    for (const parts of [{ dmarc: 'timeout' }, { policies: { dmarcParents: { com: 'timeout' } } }] as const) {
      const posture = postureOf({ bimi: [logo], ...parts });
      assert.equal(posture.bimi.isEligible, null);
      assert.deepEqual(factorIn(posture, 'bimi')?.issues, []);
    }
  });
  it('is none without a record', () => assert.equal(bimiOf([]).isEligible, null));
});
