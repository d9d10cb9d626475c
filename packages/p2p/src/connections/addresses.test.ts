import assert from 'node:assert/strict';
import { it } from 'node:test';
import { multiaddr } from '@multiformats/multiaddr';
import { casesOf } from '../../../../tests/support/vectors.ts';
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
  const cases: [string, string][] = casesOf('p2p', 'remote hosts');
  for (const [address, host] of cases) assert.equal(remoteHost(multiaddr(address)), host, address);
});
