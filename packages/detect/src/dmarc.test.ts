import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Dmarc, parseDmarc } from './dmarc.ts';

describe('parseDmarc reads', () => {
  const table: [record: string, dmarc: Partial<Dmarc>, why: string][] = [
    [
      'v=DMARC1; p=reject',
      { policy: 'reject', effectivePolicy: 'reject', subdomainPolicy: 'reject', hasReporting: false },
      'a bare policy',
    ],
    ['v=DMARC1;p=reject;t=y', { policy: 'reject', effectivePolicy: 'quarantine' }, 't=y as one step lower'],
    ['v=DMARC1;p=quarantine;t=Y', { policy: 'quarantine', effectivePolicy: 'none' }, 't=Y too'],
    ['v=DMARC1;p=none;t=y', { effectivePolicy: 'none' }, 't=y below the lowest'],
    ['v=DMARC1;p=reject;t=n', { effectivePolicy: 'reject' }, 't=n as nothing'],
    [
      'v=DMARC1; p=reject; pct=10; rf=afrf; ri=3600; fo=1; x=y; psd=n',
      { policy: 'reject', effectivePolicy: 'reject' },
      'removed and unknown tags as nothing',
    ],
    [
      'v=DMARC1; p=reject; sp=none; np=quarantine',
      { subdomainPolicy: 'none', nonexistentPolicy: 'quarantine' },
      'sub-domain policies',
    ],
    [
      'v=DMARC1; p=quarantine; sp=none',
      { subdomainPolicy: 'none', nonexistentPolicy: 'none' },
      'np falling back to sp',
    ],
    [
      'v=DMARC1; P=Reject ; Rua = mailto:a@B.test.',
      { policy: 'reject', hasReporting: true, reportHosts: ['b.test'] },
      'blanks and case',
    ],
    ['v=DMARC1', { policy: 'none' }, 'a missing policy as none'],
    [
      'v=DMARC1; p=junk',
      { policy: null, effectivePolicy: null, subdomainPolicy: null },
      'a policy that cannot be read as no record',
    ],
    ['v=DMARC1; p=junk; rua=mailto:a@b.test', { policy: 'none' }, 'the same with reports wanted as none'],
    [
      'v=DMARC1; p=none; rua=mailto:a@b.test!10m, mailto:c@d.test; ruf=mailto:e@f.test',
      { reportHosts: ['b.test', 'd.test', 'f.test'] },
      'several addresses and size limits',
    ],
    ['v=DMARC1; p=none; rua=https://b.test', { hasReporting: false, reportHosts: [] }, 'an address that is none'],
    [
      'v=DMARC1; p=none; ruf=mailto:a@b.test',
      { hasReporting: false, reportHosts: ['b.test'] },
      'ruf without rua as no reporting',
    ],
    ['v=DMARC1; p=none; p=reject', { policy: 'none' }, 'the first of two'],
    ['v=DMARC1; __proto__=x; constructor=y; p=reject', { policy: 'reject' }, 'tags named after members of objects'],
  ];
  for (const [record, expected, why] of table) {
    it(why, () => {
      const parsed = parseDmarc(['other text', record]);
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(parsed[key as keyof Dmarc], value, key);
    });
  }

  it('several records as none', () => {
    assert.equal(parseDmarc(['v=DMARC1; p=reject', 'v=DMARC1; p=none']).policy, null);
  });

  it('nothing where the version is not first or not written so', () => {
    for (const txt of ['p=reject; v=DMARC1', 'v=dmarc1; p=reject', 'v=DMARC10; p=reject', 'v=spf1 -all', '']) {
      assert.equal(parseDmarc([txt]).record, null, txt);
    }
  });
});
