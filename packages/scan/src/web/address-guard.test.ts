// Permitted addresses: a table of addresses that would each be an attack if permitted.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { createAddressGuard } from './address-guard.ts';

const guard = createAddressGuard();

/** Split at spaces. */
const REFUSED: Readonly<Record<string, string>> = casesOf('scan', 'refused addresses');
const PUBLIC = '93.184.216.34 1.1.1.1 172.32.0.1 100.128.0.1 2606:4700::1111 2a00:1450::1';

for (const [what, addresses] of Object.entries({ ...REFUSED, public: PUBLIC }))
  it(`what is ${what} is ${what === 'public' ? 'allowed' : 'refused'}`, () => {
    for (const address of addresses.split(/\s+/))
      assert.equal(guard(address).isAllowed, what === 'public', `'${address}'`);
  });

it('only ranges listed by the operator are permitted in addition', () => {
  const open = createAddressGuard(['10.1.0.0/16', '::1', '192.168.7.7']);
  for (const address of ['10.1.2.3', '::1', '192.168.7.7']) assert.equal(open(address).isAllowed, true, address);
  for (const address of ['10.2.0.1', '::2', '192.168.7.8', '::ffff:10.1.2.3'])
    assert.equal(open(address).isAllowed, false, address);
});

it('a range that cannot be read is refused with its text', () => {
  for (const range of ['10.0.0.0/33', 'ten', '', '10.0.0.0/x', '::/129'])
    assert.throws(() => createAddressGuard([range]), {
      message: `'${range}' is not an address range such as 10.0.0.0/8`,
    });
});
