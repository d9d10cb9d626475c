import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Dmarc, dmarcReportHosts, readDmarc } from './dmarc-policy.ts';
import type { EvidenceParts } from './test/evidence-of.ts';
import { evidenceOf } from './test/evidence-of.ts';

type Policies = NonNullable<EvidenceParts['policies']>;

function read(domain: string, dmarc: EvidenceParts['dmarc'], policies?: Policies): Dmarc {
  const evidence = evidenceOf({ domain, ...(dmarc ? { dmarc } : {}), ...(policies ? { policies } : {}) });
  return readDmarc(domain, evidence.dns.dmarc, evidence.policies);
}

describe('the DMARC policy in force', () => {
  const domain = 'shop.example.gov.test';
  const table: [why: string, own: string[], parents: Record<string, string[] | 'timeout'>, expected: Partial<Dmarc>][] =
    [
      [
        'is the domain’s own',
        ['v=DMARC1; p=reject; sp=quarantine'],
        { 'gov.test': ['v=DMARC1; p=none; psd=y'] },
        { foundAt: domain, policy: 'reject', subdomainPolicy: 'quarantine', nonexistentPolicy: 'quarantine' },
      ],
      [
        'is that of the organizational domain, for names below it',
        [],
        { 'example.gov.test': ['v=DMARC1; p=reject; sp=quarantine; np=none'], 'gov.test': ['v=DMARC1; p=none; psd=y'] },
        {
          foundAt: 'example.gov.test',
          organizationalDomain: 'example.gov.test',
          policy: 'quarantine',
          subdomainPolicy: 'quarantine',
          nonexistentPolicy: 'none',
        },
      ],
      [
        'is that of the public suffix where nobody below has one',
        [],
        { 'gov.test': ['v=DMARC1; p=reject; psd=y'] },
        { foundAt: 'gov.test', organizationalDomain: 'example.gov.test', policy: 'reject' },
      ],
      [
        'is not that of a name between, above which there is another',
        [],
        { 'example.gov.test': ['v=DMARC1; p=reject'], test: ['v=DMARC1; p=quarantine'] },
        { foundAt: 'test', organizationalDomain: 'test', policy: 'quarantine' },
      ],
      [
        'is that of a name that says it is no public suffix',
        [],
        { 'example.gov.test': ['v=DMARC1; p=reject; psd=n'], test: ['v=DMARC1; p=quarantine'] },
        { foundAt: 'example.gov.test', organizationalDomain: 'example.gov.test', policy: 'reject' },
      ],
      [
        'is none where several records stand',
        ['v=DMARC1; p=reject', 'v=DMARC1; p=none'],
        {},
        { policy: null, record: null, problems: [{ code: 'several-records', term: '' }] },
      ],
      [
        'is none where nobody has one',
        [],
        {},
        { policy: null, foundAt: null, organizationalDomain: domain, isUnsettled: false },
      ],
      [
        'is not settled while a parent’s cannot be had',
        [],
        { 'gov.test': 'timeout' },
        { policy: null, isUnsettled: true },
      ],
      [
        'is settled by the domain’s own record all the same',
        ['v=DMARC1; p=none'],
        { 'gov.test': 'timeout' },
        { policy: 'none', isUnsettled: false },
      ],
      [
        'is not a parent’s where the domain’s own record is void',
        ['v=DMARC1; p=junk'],
        { 'example.gov.test': ['v=DMARC1; p=reject'] },
        { policy: null, foundAt: domain },
      ],
      ['shows a record that is void', ['v=DMARC1; p=junk'], {}, { policy: null, record: 'v=DMARC1; p=junk' }],
    ];
  for (const [why, own, dmarcParents, expected] of table) {
    it(why, () => {
      const found = read(domain, own, { dmarcParents });
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key as keyof Dmarc], value, key);
    });
  }

  it('is lowered one step while testing, for names below too', () => {
    const found = read('example.com', ['v=DMARC1; p=reject; sp=quarantine; np=none; t=y']);
    assert.deepEqual(
      [found.policy, found.effectivePolicy, found.effectiveSubdomainPolicy, found.effectiveNonexistentPolicy],
      ['reject', 'quarantine', 'none', 'none'],
    );
  });

  it('is not a parent’s while the domain’s own answer is missing', () => {
    const parents = { dmarcParents: { com: ['v=DMARC1; p=reject; psd=y'] } };
    assert.equal(read('example.com', 'timeout', parents).policy, null);
    assert.equal(read('example.com', [], parents).policy, 'reject');
  });

  it('of a name with many labels is looked for under the last seven only', () => {
    const long = 'a.b.c.d.e.f.g.h.example.test';
    const found = (parent: string) => read(long, [], { dmarcParents: { [parent]: ['v=DMARC1; p=reject'] } }).foundAt;
    assert.equal(found('d.e.f.g.h.example.test'), 'd.e.f.g.h.example.test');
    assert.equal(found('c.d.e.f.g.h.example.test'), null);
  });
});

describe('reports of DMARC', () => {
  const table: [
    why: string,
    rua: string,
    consents: Policies['reportConsents'],
    reporting: string,
    refusing: string[],
  ][] = [
    ['go to the domain itself', 'mailto:d@example.com', {}, 'authorized', []],
    ['go to another name of its owner', 'mailto:d@mail.example.com', {}, 'authorized', []],
    ['go to a host that agrees', 'mailto:d@rua.test', { 'rua.test': ['v=DMARC1;'] }, 'authorized', []],
    [
      'go to a host that agrees to all, by a wildcard',
      'mailto:d@rua.test',
      { 'rua.test': ['v=DMARC1'] },
      'authorized',
      [],
    ],
    [
      'do not go to a host that says nothing',
      'mailto:d@rua.test',
      { 'rua.test': 'nxdomain' },
      'unauthorized',
      ['rua.test'],
    ],
    [
      'nor to one that says something else',
      'mailto:d@rua.test',
      { 'rua.test': ['v=spf1 -all'] },
      'unauthorized',
      ['rua.test'],
    ],
    ['may go to a host that did not answer', 'mailto:d@rua.test', { 'rua.test': 'timeout' }, 'unknown', []],
    ['may go to a host that was not asked', 'mailto:d@rua.test', undefined, 'unknown', []],
    [
      'go somewhere if one of two agrees',
      'mailto:a@no.test,mailto:d@example.com',
      { 'no.test': 'empty' },
      'authorized',
      ['no.test'],
    ],
  ];
  for (const [why, rua, reportConsents, reporting, refusing] of table) {
    it(why, () => {
      const found = read(
        'example.com',
        [`v=DMARC1; p=none; rua=${rua}`],
        reportConsents ? { reportConsents } : undefined,
      );
      assert.deepEqual([found.reporting, found.refusingHosts], [reporting, refusing]);
    });
  }

  it('are none without an address', () => assert.equal(read('example.com', ['v=DMARC1; p=none']).reporting, 'none'));
});

describe('the hosts of reports', () => {
  it('are those of one record, each once', () => {
    const record = 'v=DMARC1; p=none; rua=mailto:a@Rua.test,mailto:b@rua.test; ruf=mailto:c@ruf.test';
    assert.deepEqual(dmarcReportHosts(['other', record]), ['rua.test', 'ruf.test']);
    assert.deepEqual(dmarcReportHosts([record, record]), []);
    assert.deepEqual(dmarcReportHosts([]), []);
  });
});
