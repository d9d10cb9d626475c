import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type DmarcRecord, parseDmarc, selectDmarc } from './dmarc.ts';

describe('parseDmarc reads', () => {
  const table: [record: string, dmarc: Partial<DmarcRecord>, codes: readonly string[], why: string][] = [
    [
      'v=DMARC1; p=reject',
      { policy: 'reject', subdomainPolicy: null, isTesting: false, psd: 'u' },
      [],
      'a bare policy',
    ],
    ['v=DMARC1;p=reject;t=y', { policy: 'reject', isTesting: true }, [], 't=y'],
    ['v=DMARC1;p=reject;t=Y;psd=N', { isTesting: true, psd: 'n' }, [], 'letters of either case'],
    ['v=DMARC1;p=reject;t=maybe', { isTesting: false }, ['bad-value'], 'another t as nothing'],
    [
      'v=DMARC1; p=reject; pct=10; rf=afrf; ri=3600; fo=1; x=y',
      { policy: 'reject', isTesting: false },
      ['removed-tag', 'removed-tag', 'removed-tag', 'unknown-tag'],
      'removed and unknown tags as nothing',
    ],
    [
      'v=DMARC1; p=reject; sp=none; np=quarantine',
      { policy: 'reject', subdomainPolicy: 'none', nonexistentPolicy: 'quarantine' },
      [],
      'policies for names below',
    ],
    [
      'v=DMARC1; P=Reject ; Rua = mailto:a@B.test.',
      { policy: 'reject', aggregateHosts: ['b.test'] },
      [],
      'blanks and case',
    ],
    ['v=DMARC1', { policy: 'none' }, ['no-policy'], 'a missing policy as none'],
    ['v=DMARC1; p=junk', { policy: null }, ['bad-value'], 'a policy that cannot be read as void'],
    [
      'v=DMARC1; p=junk; rua=mailto:a@b.test',
      { policy: 'none' },
      ['bad-value'],
      'the same as none where reports are wanted',
    ],
    [
      'v=DMARC1; p=junk; rua=https://b.test',
      { policy: 'none', aggregateHosts: [] },
      ['bad-address', 'bad-value'],
      'or reports by another way',
    ],
    ['v=DMARC1; p=reject; sp=junk', { policy: null }, ['bad-value'], 'an sp that cannot be read as void too'],
    [
      'v=DMARC1; p=reject; np=junk; rua=mailto:a@b.test',
      { policy: 'none', subdomainPolicy: null, nonexistentPolicy: null },
      ['bad-value'],
      'and an np',
    ],
    [
      'v=DMARC1; p=none; rua=mailto:a@b.test!10m, mailto:c@d.test; ruf=mailto:e@f.test',
      { aggregateHosts: ['b.test', 'd.test'], failureHosts: ['f.test'] },
      ['size-limit'],
      'several addresses and size limits',
    ],
    [
      'v=DMARC1; p=none; rua=https://b.test, a@b.test, mailto:b.test',
      { aggregateHosts: [] },
      ['bad-address', 'bad-address', 'bad-address'],
      'addresses that are none',
    ],
    ['v=DMARC1; p=none; p=reject', { policy: 'none' }, ['duplicate-tag'], 'the first of two'],
    ['v=DMARC1; p=none; nonsense; =x', { policy: 'none' }, ['bad-tag', 'bad-tag'], 'what is no tag'],
    [
      'v=DMARC1; p=none; adkim=s; aspf=r; fo=1:d:s',
      { alignment: { dkim: 's', spf: 'r' } },
      [],
      'alignment and failure options',
    ],
    [
      'v=DMARC1; p=none; adkim=x; fo=2',
      { alignment: { dkim: 'r', spf: 'r' } },
      ['bad-value', 'bad-value'],
      'wrong ones',
    ],
    [
      'v=DMARC1; __proto__=x; constructor=y; p=reject',
      { policy: 'reject' },
      ['unknown-tag', 'unknown-tag'],
      'tags named after members of objects',
    ],
  ];
  for (const [record, expected, codes, why] of table) {
    it(why, () => {
      const parsed = parseDmarc(record);
      for (const [key, value] of Object.entries(expected))
        assert.deepEqual(parsed[key as keyof DmarcRecord], value, key);
      assert.deepEqual(
        parsed.problems.map(({ code }) => code),
        codes,
      );
    });
  }

  it('5,000 tags and 64 KiB of addresses into bounded lists', () => {
    const { problems, aggregateHosts } = parseDmarc(
      `v=DMARC1; p=reject; rua=${'mailto:a@b.test,'.repeat(4000)}; ${Array.from({ length: 5000 }, (_, i) => `t${i}=x`).join(';')}`,
    );
    assert.equal(problems.length, 16);
    assert.deepEqual(aggregateHosts, ['b.test']);
  });

  it('anything without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseDmarc(`v=DMARC1;${text}`).record !== ''));
  });
});

describe('selectDmarc', () => {
  it('takes records whose version comes first and is written so', () => {
    for (const txt of ['p=reject; v=DMARC1', 'v=dmarc1; p=reject', 'v=DMARC10; p=reject', 'v=spf1 -all', '']) {
      assert.deepEqual(selectDmarc([txt]), [], txt);
    }
    assert.equal(selectDmarc(['other', 'v=DMARC1; p=none', 'v = DMARC1;']).length, 2);
  });
});
