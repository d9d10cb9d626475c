import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codePoint, fc, holds } from '../../../../../tests/support/property.ts';
import type { LookupStatus } from '../../evidence/evidence.ts';
import { type EvidenceParts, evidenceOf, hasMembers, rowsOf } from '../../test/index.ts';
import { type DmarcRecord, parseDmarc, selectDmarc } from './dmarc.ts';
import { type Dmarc, dmarcReportHosts, readDmarc } from './dmarc-policy.ts';

describe('parseDmarc reads', () => {
  function reads(tags: string, expected: Partial<DmarcRecord>, codes = ''): void {
    const parsed = parseDmarc(`v=DMARC1${tags && `; ${tags}`}`);
    hasMembers(parsed, expected);
    assert.equal(parsed.problems.map(({ code }) => code).join(' '), codes);
  }

  rowsOf('DMARC tags', reads);
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

  rowsOf('DMARC policy in force', is);
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
rowsOf('DMARC reports', reports);
it('reports of DMARC are not requested without an address', () =>
  assert.equal(read('example.com', ['v=DMARC1; p=none']).reporting, 'none'));
it('reports of DMARC go to the hosts of one record, each once', () => {
  const record = 'v=DMARC1; p=none; rua=mailto:a@Rua.test,mailto:b@rua.test; ruf=mailto:c@ruf.test';
  assert.deepEqual([['other', record], [record, record], []].map(dmarcReportHosts), [['rua.test', 'ruf.test'], [], []]);
});
