import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { type DmarcRecord, parseDmarc, selectDmarc } from './dmarc.ts';
import { rows } from './test/rows.ts';

function reads(record: string, expected: Partial<DmarcRecord>, codes = ''): void {
  const parsed = parseDmarc(record);
  for (const [key, value] of Object.entries(expected)) assert.deepEqual(parsed[key as keyof DmarcRecord], value, key);
  assert.equal(parsed.problems.map(({ code }) => code).join(' '), codes);
}

describe('parseDmarc reads', () => {
  rows(reads, [
    ['a bare policy', 'v=DMARC1; p=reject', { policy: 'reject', subdomainPolicy: null, isTesting: false, psd: 'u' }],
    ['t=y', 'v=DMARC1;p=reject;t=y', { policy: 'reject', isTesting: true }],
    ['letters of either case', 'v=DMARC1;p=reject;t=Y;psd=N', { isTesting: true, psd: 'n' }],
    ['another t as nothing', 'v=DMARC1;p=reject;t=maybe', { isTesting: false }, 'bad-value'],
    ['a missing policy as none', 'v=DMARC1', { policy: 'none' }, 'no-policy'],
    ['a policy that cannot be read as void', 'v=DMARC1; p=junk', { policy: null }, 'bad-value'],
    ['an sp that cannot be read as void too', 'v=DMARC1; p=reject; sp=junk', { policy: null }, 'bad-value'],
    ['the first of two', 'v=DMARC1; p=none; p=reject', { policy: 'none' }, 'duplicate-tag'],
    ['what is no tag', 'v=DMARC1; p=none; nonsense; =x', { policy: 'none' }, 'bad-tag bad-tag'],
    ['wrong ones', 'v=DMARC1; p=none; adkim=x; fo=2', { alignment: { dkim: 'r', spf: 'r' } }, 'bad-value bad-value'],
  ]);
  it('removed and unknown tags as nothing', () =>
    reads(
      'v=DMARC1; p=reject; pct=10; rf=afrf; ri=3600; fo=1; x=y',
      { policy: 'reject', isTesting: false },
      'removed-tag removed-tag removed-tag unknown-tag',
    ));
  it('policies for names below', () =>
    reads('v=DMARC1; p=reject; sp=none; np=quarantine', {
      policy: 'reject',
      subdomainPolicy: 'none',
      nonexistentPolicy: 'quarantine',
    }));
  it('blanks and case', () =>
    reads('v=DMARC1; P=Reject ; Rua = mailto:a@B.test.', { policy: 'reject', aggregateHosts: ['b.test'] }));
  it('the same as none where reports are wanted', () =>
    reads('v=DMARC1; p=junk; rua=mailto:a@b.test', { policy: 'none' }, 'bad-value'));
  it('or reports by another way', () =>
    reads('v=DMARC1; p=junk; rua=https://b.test', { policy: 'none', aggregateHosts: [] }, 'bad-address bad-value'));
  it('and an np', () =>
    reads(
      'v=DMARC1; p=reject; np=junk; rua=mailto:a@b.test',
      { policy: 'none', subdomainPolicy: null, nonexistentPolicy: null },
      'bad-value',
    ));
  it('several addresses and size limits', () =>
    reads(
      'v=DMARC1; p=none; rua=mailto:a@b.test!10m, mailto:c@d.test; ruf=mailto:e@f.test',
      { aggregateHosts: ['b.test', 'd.test'], failureHosts: ['f.test'] },
      'size-limit',
    ));
  it('addresses that are none', () =>
    reads(
      'v=DMARC1; p=none; rua=https://b.test, a@b.test, mailto:b.test',
      { aggregateHosts: [] },
      'bad-address bad-address bad-address',
    ));
  it('alignment and failure options', () =>
    reads('v=DMARC1; p=none; adkim=s; aspf=r; fo=1:d:s', { alignment: { dkim: 's', spf: 'r' } }));
  it('tags named after members of objects', () =>
    reads('v=DMARC1; __proto__=x; constructor=y; p=reject', { policy: 'reject' }, 'unknown-tag unknown-tag'));

  it('5,000 tags and 64 KiB of addresses into bounded lists', () => {
    const { problems, aggregateHosts } = parseDmarc(
      `v=DMARC1; p=reject; rua=${'mailto:a@b.test,'.repeat(4000)}; ${Array.from({ length: 5000 }, (_, i) => `t${i}=x`).join(';')}`,
    );
    assert.equal(problems.length, 16);
    assert.deepEqual(aggregateHosts, ['b.test']);
  });
  it('anything without throwing', () =>
    holds(100, [fc.string({ unit: 'binary' })], (text) => parseDmarc(`v=DMARC1;${text}`).record !== ''));
});

describe('selectDmarc', () => {
  it('takes records whose version comes first and is written so', () => {
    for (const txt of ['p=reject; v=DMARC1', 'v=dmarc1; p=reject', 'v=DMARC10; p=reject', 'v=spf1 -all', ''])
      assert.deepEqual(selectDmarc([txt]), [], txt);
    assert.equal(selectDmarc(['other', 'v=DMARC1; p=none', 'v = DMARC1;']).length, 2);
  });
});
