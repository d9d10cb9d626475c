import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { parseAddress, parseCidr, prefixText } from './ip-address.ts';
import { rows } from './test/rows.ts';

describe('parseAddress', () => {
  rows(
    (text: string, words: number[]) => assert.deepEqual(parseAddress(text), words),
    [
      ['reads IPv4 as one word', '192.0.2.1', [0xc0000201]],
      ['reads the last of IPv4', '255.255.255.255', [0xffffffff]],
      ['reads the first of IPv4', '0.0.0.0', [0]],
      ['reads zeros left out between', '2001:db8::1', [0x20010db8, 0, 0, 1]],
      ['reads zeros and capitals', '2001:0DB8:0:0:0:0:0:1', [0x20010db8, 0, 0, 1]],
      ['reads a dotted end', '2001:db8:0:0:0:0:0.0.0.1', [0x20010db8, 0, 0, 1]],
      ['reads a dotted end after zeros left out', '::ffff:192.0.2.1', [0, 0, 0xffff, 0xc0000201]],
      ['reads zeros alone', '::', [0, 0, 0, 0]],
      ['reads zeros left out at the beginning', '::1', [0, 0, 0, 1]],
      ['reads zeros left out at the end', 'fe80::', [0xfe800000, 0, 0, 0]],
      ['reads one zero left out', '1:2:3:4:5:6:7::', [0x10002, 0x30004, 0x50006, 0x70000]],
    ],
  );

  it('refuses what is no address', () => {
    const short = '1 1.2.3 1.2.3.4.5 1.2.3.256 01.2.3.4 1..2.3 .1.2.3 1.2.3. -1.2.3.4 0x1.2.3.4'.split(' ');
    const long = ': ::: 1: :1 1::2::3 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4:5:6:7:8::'.split(' ');
    const mixed = '12345:: g:: fe80::1%eth0 ::1.2.3 1.2.3.4:: ::1.2.3.4:5'.split(' ');
    const wrong = ['', ' ', '1.2.3.4 ', '1'.repeat(99), ...short, ...long, ...mixed];
    for (const text of wrong) assert.equal(parseAddress(text), null, text);
  });

  it('accepts of random text what the platform accepts', () => {
    const text = fc.string({ unit: fc.constantFrom(...':.0123456789afz'), maxLength: 24 });
    holds(5000, [fc.oneof(text, fc.ipV4(), fc.ipV6())], (given) => {
      assert.equal(parseAddress(given) !== null, isIPv4(given) || isIPv6(given));
    });
  });
});

describe('parseCidr', () => {
  it('takes an address alone for the whole of it', () => {
    assert.deepEqual(parseCidr('192.0.2.1'), { words: [0xc0000201], length: 32 });
    assert.deepEqual(parseCidr('2001:db8::'), { words: [0x20010db8, 0, 0, 0], length: 128 });
  });

  it('refuses bits beyond the length, and lengths that there are not', () => {
    assert.equal(parseCidr('192.0.2.1/24'), 'has bits set beyond its length');
    assert.equal(parseCidr('2001:db8::1/32'), 'has bits set beyond its length');
    for (const length of ['33', '-1', '', '08', '1e1', ' 8', '8/8'])
      assert.equal(parseCidr(`10.0.0.0/${length}`), 'has no length from 0 to 32', length);
    assert.equal(parseCidr('::/129'), 'has no length from 0 to 128');
    assert.equal(parseCidr('example.com/8'), 'is no address and no address/length');
  });

  it('and prefixText turn each other back', () => {
    const prefixes = '0.0.0.0/0 10.0.0.0/8 192.0.2.1/32 ::/0 2001:db8::/32 1:0:0:2::/64 ::1/128'.split(' ');
    for (const text of prefixes) {
      const cidr = parseCidr(text);
      assert.ok(typeof cidr !== 'string', text);
      assert.equal(prefixText(cidr.words, cidr.length), text);
    }
    assert.equal(prefixText([0xc0000281], 24), '192.0.2.0/24');
    assert.equal(prefixText([0x20010db8, 1, 0, 1], 128), '2001:db8:0:1::1/128');
    assert.equal(prefixText([0x10000, 0x20003, 0x40005, 0x60007], 128), '1:0:2:3:4:5:6:7/128');
  });
});
