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
  const recordOf = (tags: string) => `v=DMARC1; ${tags}`;
  function findsPolicy(own: string[], parents: Record<string, string>, expected: Partial<Dmarc>): void {
    const dmarcParents = Object.fromEntries(
      Object.entries(parents).map(([name, tags]) => [name, tags === 'timeout' ? tags : [recordOf(tags)]] as const),
    );
    const found = read(domain, own.map(recordOf), { dmarcParents });
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key as keyof Dmarc], value, key);
  }
  it('is the domain’s own', () =>
    findsPolicy(
      ['p=reject; sp=quarantine'],
      { 'gov.test': 'p=none; psd=y' },
      { foundAt: domain, policy: 'reject', subdomainPolicy: 'quarantine', nonexistentPolicy: 'quarantine' },
    ));
  it('is that of the organizational domain, for names below it', () =>
    findsPolicy(
      [],
      { 'example.gov.test': 'p=reject; sp=quarantine; np=none', 'gov.test': 'p=none; psd=y' },
      {
        foundAt: 'example.gov.test',
        organizationalDomain: 'example.gov.test',
        policy: 'quarantine',
        subdomainPolicy: 'quarantine',
        nonexistentPolicy: 'none',
      },
    ));
  it('is that of the public suffix where nobody below has one', () =>
    findsPolicy(
      [],
      { 'gov.test': 'p=reject; psd=y' },
      { foundAt: 'gov.test', organizationalDomain: 'example.gov.test', policy: 'reject' },
    ));
  it('is not that of a name between, above which there is another', () =>
    findsPolicy(
      [],
      { 'example.gov.test': 'p=reject', test: 'p=quarantine' },
      { foundAt: 'test', organizationalDomain: 'test', policy: 'quarantine' },
    ));
  it('is that of a name that says it is no public suffix', () =>
    findsPolicy(
      [],
      { 'example.gov.test': 'p=reject; psd=n', test: 'p=quarantine' },
      { foundAt: 'example.gov.test', organizationalDomain: 'example.gov.test', policy: 'reject' },
    ));
  it('is none where several records stand', () =>
    findsPolicy(
      ['p=reject', 'p=none'],
      {},
      { policy: null, record: null, problems: [{ code: 'several-records', term: '' }] },
    ));
  it('is none where nobody has one', () =>
    findsPolicy([], {}, { policy: null, foundAt: null, organizationalDomain: domain, isUnsettled: false }));
  it('is not settled while a parent’s cannot be had', () =>
    findsPolicy([], { 'gov.test': 'timeout' }, { policy: null, isUnsettled: true }));
  it('is settled by the domain’s own record all the same', () =>
    findsPolicy(['p=none'], { 'gov.test': 'timeout' }, { policy: 'none', isUnsettled: false }));
  it('is not a parent’s where the domain’s own record is void', () =>
    findsPolicy(['p=junk'], { 'example.gov.test': 'p=reject' }, { policy: null, foundAt: domain }));
  it('shows a record that is void', () => findsPolicy(['p=junk'], {}, { policy: null, record: 'v=DMARC1; p=junk' }));
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
  function reports(
    rua: string,
    reportConsents: Policies['reportConsents'],
    expected: string,
    refusing: string[] = [],
  ): void {
    const policies = reportConsents ? { reportConsents } : undefined;
    const { reporting, refusingHosts } = read('example.com', [`v=DMARC1; p=none; rua=${rua}`], policies);
    assert.deepEqual([reporting, refusingHosts], [expected, refusing]);
  }
  it('go to the domain itself', () => reports('mailto:d@example.com', {}, 'authorized'));
  it('go to another name of its owner', () => reports('mailto:d@mail.example.com', {}, 'authorized'));
  it('go to a host that agrees', () => reports('mailto:d@rua.test', { 'rua.test': ['v=DMARC1;'] }, 'authorized'));
  it('go to a host that agrees to all, by a wildcard', () =>
    reports('mailto:d@rua.test', { 'rua.test': ['v=DMARC1'] }, 'authorized'));
  it('do not go to a host that says nothing', () =>
    reports('mailto:d@rua.test', { 'rua.test': 'nxdomain' }, 'unauthorized', ['rua.test']));
  it('nor to one that says something else', () =>
    reports('mailto:d@rua.test', { 'rua.test': ['v=spf1 -all'] }, 'unauthorized', ['rua.test']));
  it('may go to a host that did not answer', () => reports('mailto:d@rua.test', { 'rua.test': 'timeout' }, 'unknown'));
  it('may go to a host that was not asked', () => reports('mailto:d@rua.test', undefined, 'unknown'));
  it('go somewhere if one of two agrees', () =>
    reports('mailto:a@no.test,mailto:d@example.com', { 'no.test': 'empty' }, 'authorized', ['no.test']));
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
