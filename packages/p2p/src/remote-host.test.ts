import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { multiaddr } from '@multiformats/multiaddr';
import { remoteHost } from './remote-host.ts';

describe('remote host', () => {
  it('is an IPv4 address, or the half of an IPv6 address that a line is given', () => {
    const cases: [string, string][] = [
      ['/ip4/192.0.2.7/tcp/4001', '192.0.2.7'],
      ['/ip4/192.0.2.7/tcp/9/p2p/12D3KooWGzBk7WpdSWZ3p2cE8X5hGN7JLGJXmYqzbSzZ8bDFfwvY/p2p-circuit', '192.0.2.7'],
      ['/ip6/2001:db8:1:2:3:4:5:6/tcp/4001', '2001:db8:1:2::'],
      ['/ip6/2001:db8:1:2::9/tcp/4001', '2001:db8:1:2::'],
      ['/ip6/2001:db8::1/tcp/4001', '2001:db8:0:0::'],
      ['/ip6zone/eth0/ip6/fe80::1/tcp/4001', 'fe80:0:0:0::'],
      ['/ip6/::1/tcp/4001', '0:0:0:0::'],
      ['/ip6/::ffff:192.0.2.7/tcp/4001', '192.0.2.7'],
      ['/dns4/strata.example/tcp/4001', ''],
    ];
    for (const [address, host] of cases) assert.equal(remoteHost(multiaddr(address)), host, address);
  });
});
