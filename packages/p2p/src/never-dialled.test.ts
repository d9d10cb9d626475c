import assert from 'node:assert/strict';
import { it } from 'node:test';
import { multiaddr } from '@multiformats/multiaddr';
import { createGate } from './gate.ts';

const { gater } = createGate('self', {
  allow: undefined,
  named: [],
  connections: () => [],
  isBusy: () => false,
  onRefused: () => {},
});
const isDenied = (address: string) => gater.denyDialMultiaddr?.(multiaddr(address)) ?? false;

const DENIED = `/ip4/169.254.169.254/tcp/80 /ip4/0.0.0.0/tcp/4001 /ip4/100.100.100.200/tcp/80 /ip4/168.63.129.16/tcp/80
  /ip4/224.0.0.251/tcp/4001 /ip4/255.255.255.255/tcp/4001 /ip6/::/tcp/4001 /ip6/fe80::1/tcp/4001 /ip6/ff02::1/tcp/4001
  /ip6/fd00:ec2::254/tcp/80 /ip6/fd20:ce::254/tcp/80 /ip6/::ffff:a9fe:a9fe/tcp/80 /ip6/64:ff9b::a9fe:a9fe/tcp/80
  /ip4/169.254.169.254/tcp/80/ws`.split(/\s+/);
const ALLOWED = `/ip4/127.0.0.1/tcp/4001 /ip4/192.168.1.5/tcp/4001 /ip4/93.184.216.34/tcp/4001 /ip6/fd00::5/tcp/4001
  /ip6/2606:4700::1111/tcp/4001 /dns4/gateway.example/tcp/4001`.split(/\s+/);

it('an address that no host of the network can have is not dialled, whoever announces it', () => {
  assert.deepEqual([...DENIED, ...ALLOWED].filter(isDenied), DENIED);
});
