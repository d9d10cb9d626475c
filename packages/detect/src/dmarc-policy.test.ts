import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Dmarc, dmarcReportHosts, readDmarc } from './dmarc-policy.ts';
import type { LookupStatus } from './evidence.ts';
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { hasMembers, rows } from './test/rows.ts';

type Policies = NonNullable<EvidenceParts['policies']>;

function read(domain: string, dmarc: EvidenceParts['dmarc'], policies?: Policies): Dmarc {
  const evidence = evidenceOf({ domain, ...(dmarc ? { dmarc } : {}), ...(policies ? { policies } : {}) });
  return readDmarc(domain, evidence.dns.dmarc, evidence.policies);
}

describe('the DMARC policy in force', () => {
  const domain = 'shop.example.gov.test';
  const recordOf = (tags: string) => (tags === 'timeout' ? tags : [`v=DMARC1; ${tags}`]);
  /** `own` has records joined by `+`. */
  function is(own: string, parents: Record<string, string>, expected: Partial<Dmarc>): void {
    const found = Object.entries(parents).map(([name, tags]) => [name, recordOf(tags)] as const);
    const records = own ? own.split('+').map((tags) => `v=DMARC1; ${tags}`) : [];
    hasMembers(read(domain, records, { dmarcParents: Object.fromEntries(found) }), expected);
  }
  const parent = 'example.gov.test';
  const suffix = { 'gov.test': 'p=reject; psd=y' };
  const both = { [parent]: 'p=reject; sp=quarantine; np=none', 'gov.test': 'p=none; psd=y' };
  const atParent = { foundAt: parent, organizationalDomain: parent };
  const atTop = { foundAt: 'test', organizationalDomain: 'test' };
  const below = { policy: 'quarantine', subdomainPolicy: 'quarantine', nonexistentPolicy: 'none' } as const;
  const own = { foundAt: domain, subdomainPolicy: 'quarantine', nonexistentPolicy: 'quarantine' } as const;
  const several = { record: null, problems: [{ code: 'several-records', term: '' }] } as const;
  const none = { foundAt: null, organizationalDomain: domain, isUnsettled: false };
  const silent = { 'gov.test': 'timeout' };
  rows(is, [
    ['is its own', 'p=reject; sp=quarantine', suffix, { policy: 'reject', ...own }],
    ['is the organizational domain’s, for names below it', '', both, { ...atParent, ...below }],
    ['is the suffix’s without another', '', suffix, { ...atParent, foundAt: 'gov.test', policy: 'reject' }],
    [
      'is not that of a name between',
      '',
      { [parent]: 'p=reject', test: 'p=quarantine' },
      { ...atTop, policy: 'quarantine' },
    ],
    ['is that of no suffix', '', { [parent]: 'p=reject; psd=n', test: 'p=none' }, { ...atParent, policy: 'reject' }],
    ['is none where several records stand', 'p=reject+p=none', {}, { policy: null, ...several }],
    ['is none where nobody has one', '', {}, { policy: null, ...none }],
    ['is not settled while a parent’s cannot be had', '', silent, { policy: null, isUnsettled: true }],
    ['is settled by its own record', 'p=none', silent, { policy: 'none', isUnsettled: false }],
    ['is not a parent’s where its own is void', 'p=junk', { [parent]: 'p=reject' }, { policy: null, foundAt: domain }],
    ['shows a record that is void', 'p=junk', {}, { policy: null, record: 'v=DMARC1; p=junk' }],
  ]);
  it('is lowered one step while testing, for names below too', () =>
    hasMembers(read('example.com', ['v=DMARC1; p=reject; sp=quarantine; np=none; t=y']), {
      ...{ policy: 'reject', effectivePolicy: 'quarantine' },
      ...{ effectiveSubdomainPolicy: 'none', effectiveNonexistentPolicy: 'none' },
    }));
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
  function reports(rua: string, consent: string[] | LookupStatus | null, expected: string, refusing = ''): void {
    const policies = consent ? { reportConsents: { 'rua.test': consent } } : undefined;
    const { reporting, refusingHosts } = read('example.com', [`v=DMARC1; p=none; rua=${rua}`], policies);
    assert.deepEqual([reporting, refusingHosts.join()], [expected, refusing]);
  }
  rows(reports, [
    ['go to the domain itself', 'mailto:d@example.com', null, 'authorized'],
    ['go to another name of its owner', 'mailto:d@mail.example.com', null, 'authorized'],
    ['go to a host that agrees', 'mailto:d@rua.test', ['v=DMARC1;'], 'authorized'],
    ['do not go to a host that says nothing', 'mailto:d@rua.test', 'nxdomain', 'unauthorized', 'rua.test'],
    ['nor to one that says something else', 'mailto:d@rua.test', ['v=spf1 -all'], 'unauthorized', 'rua.test'],
    ['may go to a host that did not answer', 'mailto:d@rua.test', 'timeout', 'unknown'],
    ['may go to a host that was not asked', 'mailto:d@rua.test', null, 'unknown'],
    ['go if one of two agrees', 'mailto:a@rua.test,mailto:d@example.com', 'empty', 'authorized', 'rua.test'],
  ]);
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
