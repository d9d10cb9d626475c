import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countedAddress } from './counted-address.ts';

describe('an address that a limit counts', () => {
  const table: readonly (readonly [string, string])[] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['192.0.2.1:4711', 'unknown'],
    ['', 'unknown'],
  ];
  for (const [address, counted] of table)
    it(`'${address}' is ${counted}`, () => assert.equal(countedAddress(address), counted));
});
