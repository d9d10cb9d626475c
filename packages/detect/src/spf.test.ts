import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseSpf, type Spf } from './spf.ts';

const valid = { result: 'valid', all: null, targets: [], isRedirected: false, usesPtr: false } as const;

describe('parseSpf reads', () => {
  const table: [record: string, spf: Partial<Spf>, why: string][] = [
    ['v=spf1', valid, 'an empty policy'],
    ['v=spf1 -all', { ...valid, all: '-all' }, 'a policy that allows nobody'],
    ['V=SPF1 ~ALL', { ...valid, all: '~all' }, 'upper case'],
    ['v=spf1 all', { ...valid, all: '+all' }, 'no qualifier, which is a pass'],
    ['v=spf1 ?all ip4:1.2.3.4', { ...valid, all: '?all' }, 'terms that are never reached'],
    [
      'v=spf1 include:_spf.Example.COM. -all',
      { ...valid, all: '-all', targets: ['_spf.example.com'] },
      'a host as the DNS compares it',
    ],
    [
      'v=spf1 +include:a.test  ~include:b.test',
      { ...valid, targets: ['a.test', 'b.test'] },
      'qualifiers and double blanks',
    ],
    [
      'v=spf1 exists:%{i}.spf.hc1.iphmx.test -all',
      { ...valid, all: '-all', targets: ['%{i}.spf.hc1.iphmx.test'] },
      'macros, kept as they are',
    ],
    ['v=spf1 redirect=_spf.a.test', { ...valid, targets: ['_spf.a.test'], isRedirected: true }, 'a redirect'],
    ['v=spf1 redirect=_spf.a.test -all', { ...valid, all: '-all' }, 'a redirect that `all` makes void'],
    [
      'v=spf1 a mx a/24 mx:b.test/24//64 ip6:::1 ptr exp=e.test x-new=1 -all',
      { ...valid, all: '-all', usesPtr: true },
      'every other term',
    ],
    ['v=spf1 include: -all', { result: 'permerror' }, 'an include of nothing'],
    ['v=spf1 inclde:a.test -all', { result: 'permerror', all: '-all' }, 'an unknown mechanism'],
    [`v=spf1 ${'include:a.test '.repeat(11)}-all`, { result: 'permerror' }, 'more than ten look-ups'],
    [`v=spf1 ${'include:a.test '.repeat(10)}-all`, { result: 'valid' }, 'ten look-ups'],
    ['v=spf1 include:a.test\u0000 -all', { result: 'valid', targets: ['a.test\u0000'] }, 'NUL, without harm'],
  ];
  for (const [record, expected, why] of table) {
    it(why, () => {
      const parsed = parseSpf(['other', record]);
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(parsed[key as keyof Spf], value, key);
      assert.equal(parsed.record, record);
    });
  }

  it('nothing where no record is one', () => {
    for (const txt of ['v=spf10 -all', 'v=spf2.0/pra -all', ' v=spf1 -all', 'spf1', '', 'v=spf1\t-all']) {
      assert.equal(parseSpf([txt]).result, 'none', txt);
    }
  });

  it('several records as a permanent error that still names all targets', () => {
    const spf = parseSpf(['v=spf1 include:a.test -all', 'v=spf1 include:b.test ~all']);
    assert.equal(spf.result, 'permerror');
    assert.deepEqual(spf.targets, ['a.test', 'b.test']);
  });

  it('64 KB of includes into a bounded list', () => {
    const spf = parseSpf([`v=spf1 ${'include:a.test '.repeat(4400)}`]);
    assert.equal(spf.result, 'permerror');
    assert.equal(spf.targets.length, 64);
  });

  it('anything without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseSpf([`v=spf1 ${text}`]).record !== null));
  });
});
