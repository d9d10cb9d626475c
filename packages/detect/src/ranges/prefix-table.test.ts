import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { type Cidr, parseAddress, parseCidr, prefixText, type Words } from './ip-address.ts';
import { PrefixTable, type TableEntry } from './prefix-table.ts';

it('parseAddress reads IPv4 as one word, IPv6 as four, with zeros left out or a dotted end', () => {
  const table = casesOf<Record<string, Words>>('detect', 'addresses as numbers');
  for (const [text, words] of Object.entries(table)) assert.deepEqual(parseAddress(text), words, text);
});
it('parseAddress refuses text that is not an address', () => {
  const short = '1 1.2.3 1.2.3.4.5 1.2.3.256 01.2.3.4 1..2.3 .1.2.3 1.2.3. -1.2.3.4 0x1.2.3.4'.split(' ');
  const long = ': ::: 1: :1 1::2::3 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4:5:6:7:8::'.split(' ');
  const mixed = '12345:: g:: fe80::1%eth0 ::1.2.3 1.2.3.4:: ::1.2.3.4:5'.split(' ');
  const wrong = ['', ' ', '1.2.3.4 ', '1'.repeat(99), ...short, ...long, ...mixed];
  for (const text of wrong) assert.equal(parseAddress(text), null, text);
});
it('parseAddress accepts of random text what the platform accepts', () => {
  const text = fc.string({ unit: fc.constantFrom(...':.0123456789afz'), maxLength: 24 });
  holds(5000, [fc.oneof(text, fc.ipV4(), fc.ipV6())], (given) =>
    assert.equal(parseAddress(given) !== null, isIPv4(given) || isIPv6(given)),
  );
});
it('parseCidr treats an address as its own prefix', () => {
  assert.deepEqual(parseCidr('192.0.2.1'), { words: [0xc0000201], length: 32 });
  assert.deepEqual(parseCidr('2001:db8::'), { words: [0x20010db8, 0, 0, 0], length: 128 });
});
it('parseCidr refuses bits outside the length, and invalid lengths', () => {
  assert.equal(parseCidr('192.0.2.1/24'), 'has bits set outside its length');
  assert.equal(parseCidr('2001:db8::1/32'), 'has bits set outside its length');
  for (const length of ['33', '-1', '', '08', '1e1', ' 8', '8/8'])
    assert.equal(parseCidr(`10.0.0.0/${length}`), 'has no length from 0 to 32', length);
  assert.equal(parseCidr('::/129'), 'has no length from 0 to 128');
  assert.equal(parseCidr('example.com/8'), 'is not an address or address/length');
});
it('parseCidr and prefixText turn each other back', () => {
  const prefixes = '0.0.0.0/0 10.0.0.0/8 192.0.2.1/32 ::/0 2001:db8::/32 1:0:0:2::/64 ::1/128'.split(' ');
  const texts = prefixes.map((text) => parseCidr(text) as Cidr).map(({ words, length }) => prefixText(words, length));
  assert.deepEqual(texts, prefixes);
  assert.equal(prefixText([0xc0000281], 24), '192.0.2.0/24');
  assert.equal(prefixText([0x20010db8, 1, 0, 1], 128), '2001:db8:0:1::1/128');
  assert.equal(prefixText([0x10000, 0x20003, 0x40005, 0x60007], 128), '1:0:2:3:4:5:6:7/128');
});

/** Tests every entry: the longest that contains the address, of equals the lowest rank. */
function findSlowly(entries: readonly TableEntry[], address: Words): { label: number; length: number } | undefined {
  const [best] = entries
    .filter(({ words, length }) => prefixText(words, length) === prefixText(address, length))
    .toSorted((a, b) => b.length - a.length || a.rank - b.rank || a.label - b.label);
  return best && { label: best.label, length: best.length };
}

/** Few bits differ, so that prefixes nest, touch and repeat, also at both ends of the address space. */
function spaceOf(width: 1 | 4): fc.Arbitrary<{ entries: TableEntry[]; addresses: Words[] }> {
  const word = fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xc0000000, 0xfffffffe, 0xffffffff);
  const words = fc.array(word, { minLength: width, maxLength: width });
  const one = fc.tuple(words, fc.nat(width * 32), fc.nat(5), fc.nat(2)).map(([given, length, label, rank]) => {
    return { ...(parseCidr(prefixText(given, length)) as Cidr), label, rank };
  });
  return fc.record({ entries: fc.array(one, { maxLength: 24 }), addresses: fc.array(words, { minLength: 8 }) });
}

it('PrefixTable is empty without entries, and joins neighbours that say the same', () => {
  assert.deepEqual([new PrefixTable([], 1).find([1]), new PrefixTable([], 4).sizeBytes], [undefined, 0]);
  const cidrs = Array.from({ length: 256 }, (_, i) => parseCidr(`10.0.${i}.0/24`) as Cidr);
  const entries = cidrs.map((cidr) => ({ ...cidr, label: 1, rank: 0 }));
  assert.equal(new PrefixTable(entries, 1).sizeBytes, 2 * 8);
});

for (const width of [1, 4] as const) {
  it(`PrefixTable finds what a search through all entries finds, ${width * 32} bits`, () =>
    holds(600, [spaceOf(width)], ({ entries, addresses }) => {
      const table = new PrefixTable(entries, width);
      for (const address of [...addresses, ...entries.map(({ words }) => words)])
        assert.deepEqual(table.find(address), findSlowly(entries, address));
    }));
}
