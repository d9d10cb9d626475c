import assert from 'node:assert/strict';
import { it } from 'node:test';
import { multiaddr } from '@multiformats/multiaddr';
import { newPeerId } from '../test/hosts.ts';
import { addressOptions, farthestFirst, isLoopbackOnly } from './addresses.ts';
import { remoteHost } from './remote-host.ts';

const peer = await newPeerId();
const [loopback, home, open] = ['127.0.0.1', '192.168.1.7', '1.1.1.1'].map((host) => `/ip4/${host}/tcp/4001`);
const all = [loopback, home, open].map((address) => multiaddr(address));

it('addresses are announced with the public ones first, and loopback only where there is nothing else', () => {
  assert.deepEqual(farthestFirst(peer, all), [open, home]);
  assert.deepEqual(farthestFirst(peer, all.slice(0, 1)), [loopback]);
  assert.deepEqual(farthestFirst(peer, []), []);
});

it('addresses that are private are kept back when asked', () => {
  const node = { keyFile: '', listen: ['/ip4/0.0.0.0/tcp/4001'] };
  assert.equal(addressOptions(node, undefined).announceFilter, undefined);
  assert.deepEqual(addressOptions(node, peer).announceFilter?.(all).map(String), [open]);
});

it('loopback addresses are distinguished from other addresses', () => {
  assert.equal(isLoopbackOnly(['/ip4/127.0.0.1/tcp/0', '/ip6/::1/tcp/0/ws']), true);
  assert.equal(isLoopbackOnly(['/ip4/127.0.0.1/tcp/0', '/ip4/0.0.0.0/tcp/0']), false);
  assert.equal(isLoopbackOnly([]), false);
});

it('a remote host is an IPv4 address, or the half of an IPv6 address that a line is given', () => {
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
