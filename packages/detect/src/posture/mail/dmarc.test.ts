import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { codePoint, holds } from '../../../../../tests/support/property.ts';
import type { LookupStatus } from '../../evidence/evidence.ts';
import { type EvidenceParts, evidenceOf } from '../../test/evidence-of.ts';
import { hasMembers, rows } from '../../test/rows.ts';
import { type DmarcRecord, parseDmarc, selectDmarc } from './dmarc.ts';
import { type Dmarc, dmarcReportHosts, readDmarc } from './dmarc-policy.ts';

describe('parseDmarc reads', () => {
  function reads(tags: string, expected: Partial<DmarcRecord>, codes = ''): void {
    const parsed = parseDmarc(`v=DMARC1${tags && `; ${tags}`}`);
    hasMembers(parsed, expected);
    assert.equal(parsed.problems.map(({ code }) => code).join(' '), codes);
  }
  const bare = { policy: 'reject', subdomainPolicy: null, isTesting: false, psd: 'u' } as const;
  const below = { policy: 'reject', subdomainPolicy: 'none', nonexistentPolicy: 'quarantine' } as const;
  const noneForAll = { policy: 'none', subdomainPolicy: null, nonexistentPolicy: null } as const;
  const removed = 'removed-tag removed-tag removed-tag unknown-tag';
  const limited = 'p=none; rua=mailto:a@b.test!10m, mailto:c@d.test; ruf=mailto:e@f.test';
  const hosts = { aggregateHosts: ['b.test', 'd.test'], failureHosts: ['f.test'] };
  const noAddress = 'bad-address bad-address bad-address';
  const unread = 'bad-address bad-value';
  rows(reads, [
    ['a bare policy', 'p=reject', bare],
    ['t=y', 'p=reject;t=y', { policy: 'reject', isTesting: true }],
    ['letters of either case', 'p=reject;t=Y;psd=N', { isTesting: true, psd: 'n' }],
    ['another t as nothing', 'p=reject;t=maybe', { isTesting: false }, 'bad-value'],
    ['a missing policy as none', '', { policy: 'none' }, 'no-policy'],
    ['a policy that cannot be read as void', 'p=junk', { policy: null }, 'bad-value'],
    ['an sp that cannot be read as void too', 'p=reject; sp=junk', { policy: null }, 'bad-value'],
    ['the first of two', 'p=none; p=reject', { policy: 'none' }, 'duplicate-tag'],
    ['text that is not a tag', 'p=none; nonsense; =x', { policy: 'none' }, 'bad-tag bad-tag'],
    ['wrong ones', 'p=none; adkim=x; fo=2', { alignment: { dkim: 'r', spf: 'r' } }, 'bad-value bad-value'],
    ['removed and unknown tags as nothing', 'p=reject; pct=10; rf=afrf; ri=3600; fo=1; x=y', bare, removed],
    ['policies for names below', 'p=reject; sp=none; np=quarantine', below],
    ['blanks and case', 'P=Reject ; Rua = mailto:a@B.test.', { policy: 'reject', aggregateHosts: ['b.test'] }],
    ['a void one as none where reports are wanted', 'p=junk; rua=mailto:a@b.test', { policy: 'none' }, 'bad-value'],
    ['or by another way', 'p=junk; rua=https://b.test', { policy: 'none', aggregateHosts: [] }, unread],
    ['and an np', 'p=reject; np=junk; rua=mailto:a@b.test', noneForAll, 'bad-value'],
    ['several addresses and size limits', limited, hosts, 'size-limit'],
    ['no addresses', 'p=none; rua=https://b.test, a@b.test, mailto:b.test', { aggregateHosts: [] }, noAddress],
    ['alignment and failure options', 'p=none; adkim=s; aspf=r; fo=1:d:s', { alignment: { dkim: 's', spf: 'r' } }],
    ['members of objects', '__proto__=x; constructor=y; p=reject', { policy: 'reject' }, 'unknown-tag unknown-tag'],
  ]);
  it('5,000 tags and 64 KiB of addresses into bounded lists', () => {
    const tags = Array.from({ length: 5000 }, (_, i) => `t${i}=x`).join(';');
    const { problems, aggregateHosts } = parseDmarc(`v=DMARC1; rua=${'mailto:a@b.test,'.repeat(4000)}; ${tags}`);
    assert.deepEqual([problems.length, aggregateHosts], [16, ['b.test']]);
  });
  it('anything without throwing', () =>
    holds(100, [fc.string({ unit: codePoint })], (text) => parseDmarc(`v=DMARC1;${text}`).record !== ''));
});

it('selectDmarc takes records whose version comes first and is written so', () => {
  for (const txt of ['p=reject; v=DMARC1', 'v=dmarc1; p=reject', 'v=DMARC10; p=reject', 'v=spf1 -all', ''])
    assert.deepEqual(selectDmarc([txt]), [], txt);
  assert.equal(selectDmarc(['other', 'v=DMARC1; p=none', 'v = DMARC1;']).length, 2);
});

function read(domain: string, dmarc: NonNullable<EvidenceParts['dmarc']>, given?: EvidenceParts['policies']): Dmarc {
  const evidence = evidenceOf({ domain, dmarc, ...(given && { policies: given }) });
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
  const between = { [parent]: 'p=reject', test: 'p=quarantine' };
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
    ['is not that of a name between', '', between, { ...atTop, policy: 'quarantine' }],
    ['is that of no suffix', '', { [parent]: 'p=reject; psd=n', test: 'p=none' }, { ...atParent, policy: 'reject' }],
    ['is null with several records', 'p=reject+p=none', {}, { policy: null, ...several }],
    ['is null without any record', '', {}, { policy: null, ...none }],
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
  it('of a name with many labels is searched under the last seven only', () => {
    const long = 'a.b.c.d.e.f.g.h.example.test';
    const found = (parent: string) => read(long, [], { dmarcParents: { [parent]: ['v=DMARC1; p=reject'] } }).foundAt;
    assert.equal(found('d.e.f.g.h.example.test'), 'd.e.f.g.h.example.test');
    assert.equal(found('c.d.e.f.g.h.example.test'), null);
  });
});

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
it('reports of DMARC are not requested without an address', () =>
  assert.equal(read('example.com', ['v=DMARC1; p=none']).reporting, 'none'));
it('reports of DMARC go to the hosts of one record, each once', () => {
  const record = 'v=DMARC1; p=none; rua=mailto:a@Rua.test,mailto:b@rua.test; ruf=mailto:c@ruf.test';
  const hosts = [['other', record], [record, record], []].map(dmarcReportHosts);
  assert.deepEqual(hosts, [['rua.test', 'ruf.test'], [], []]);
});
