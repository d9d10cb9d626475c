// Permitted addresses: a table of addresses that would each be an attack if permitted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createAddressGuard } from './address-guard.ts';

const guard = createAddressGuard();

/** Split at spaces. */
const REFUSED: Readonly<Record<string, string>> = {
  'this host': '0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.254 :: ::1',
  private: '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fd00::1 fec0::1',
  'link-local or metadata': `169.254.169.254 fe80::1 fd00:ec2::254 168.63.129.16 100.100.100.200 169.254.170.2 192.0.0.192
    fd20:ce::254 fe80::a9fe:a9fe`,
  'carrier-grade NAT': '100.64.0.1 100.127.255.255',
  'multicast or broadcast': '224.0.0.1 239.1.1.1 255.255.255.255 ff02::1',
  'reserved or for documentation': `192.0.0.8 192.0.2.1 198.18.0.1 240.0.0.1 2001:db8::1 100::1 3fff::1 5f00::1 192.88.99.1
    2001:2::1 2001:20::1`,
  'an IPv4 address in disguise': `::ffff:10.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:7f00:1 ::127.0.0.1 ::7f00:1 ::ffff:0:127.0.0.1
    64:ff9b::a00:1 64:ff9b:1::1 2002:a00:1:: 2001:0:a00:1:: 2606:4700::5efe:127.0.0.1 2606:4700::200:5efe:a9fe:a9fe
    64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: ::ffff:169.254.169.254`,
  unassigned: '4000::1 e000::1',
  'not an address as DNS writes them': ' localhost 127.1 0x7f.1 2130706433 017700000001 [::1]',
  'an address with a zone': 'fe80::1%eth0 2606:4700::1%1',
};
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
