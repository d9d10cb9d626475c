import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Connection, MultiaddrConnection, PeerId } from '@libp2p/interface';
import { multiaddr } from '@multiformats/multiaddr';
import { until } from '../../../../tests/support/until.ts';
import { ChannelError } from '../channels/inbox.ts';
import { lanServiceName, networkKeyOf } from '../identity/private-network.ts';
import { JoinError } from '../join/join-target.ts';
import { CONNECTIONS } from '../limits.ts';
import { addressOf, newPeerId, useHosts, within } from '../test/hosts.ts';
import { connectionToEvict, createGate } from './gate.ts';

describe('a connection between hosts', { concurrency: true }, () => {
  const hosts = useHosts();
  it('needs the key of a private network', async () => {
    const networkKey = randomBytes(32);
    const inside = await hosts.start('inside', { networkKey });
    const outside = await hosts.start('outside');
    const elsewhere = await hosts.start('elsewhere', { networkKey: randomBytes(32) });
    // What they send to each other is noise, and neither answers.
    const isExplained = (error: unknown) => error instanceof JoinError && /private network/.test(error.message);
    await Promise.all(
      [outside, elsewhere].flatMap((refusedNode) => [
        assert.rejects(refusedNode.peers.join(addressOf(inside), within(700)), isExplained),
        assert.rejects(inside.peers.join(addressOf(refusedNode), within(700)), isExplained),
        assert.rejects(refusedNode.channels.open(inside.id, '/x', within(700)), ChannelError),
      ]),
    );
    await assert.rejects(outside.peers.join(inside.joinToken(), within()), /private network/);
    assert.deepEqual(inside.peers.connected(), []);
  });
  it('into a private network needs only its join token', async () => {
    const gateway = await hosts.start('gateway', { networkKey: randomBytes(32) });
    const worker = await hosts.start('worker', { join: [gateway.joinToken()] });
    await until(() => worker.peers.connected().length === 1);
    const third = await hosts.start('third', { join: [worker.joinToken()] });
    await until(() => third.peers.connected().length >= 1);
    await assert.rejects(hosts.start('torn', { networkKey: randomBytes(32), join: [gateway.joinToken()] }), RangeError);
  });
  it('needs the peer on the allow-list, whichever side dials', async () => {
    const friend = await hosts.start('friend');
    const refusedNode = await hosts.start('refusedNode');
    const refused: string[] = [];
    const strict = await hosts.start('strict', { allow: [friend.id], onRefused: (peer) => refused.push(peer) });
    await assert.rejects(strict.peers.join(addressOf(refusedNode), within()), JoinError);
    // The message has the id to allow.
    const message = new RegExp(`allow-list[^]*${refusedNode.id}|${refusedNode.id}[^]*allow-list`);
    for (const _again of [1, 2])
      await assert.rejects(refusedNode.peers.join(addressOf(strict), within()), { name: 'JoinError', message });
    assert.deepEqual(refused, [refusedNode.id], 'reported to the operator who allows, and once');
    await until(() => refusedNode.peers.connected().length === 0);
    assert.deepEqual(strict.peers.connected(), []);
    await friend.peers.join(addressOf(strict), within());
    await until(() => strict.peers.connected().length === 1);
  });
  it('to itself is refused', async () => {
    const node = await hosts.start('alone');
    await assert.rejects(node.peers.join(addressOf(node), within()), JoinError);
    assert.deepEqual(node.peers.connected(), []);
  });
});

const gaterOf = (all: readonly Connection[] = []) => {
  const connections = (peer?: PeerId) => (peer ? [] : [...all]);
  const deps = { allow: undefined, named: [], connections, isBusy: () => false, onRefused: () => {} };
  return createGate('self', deps).gater;
};
const connectionOf = (host: string, port: number, peer: PeerId) => {
  const aborted: Error[] = [];
  const closed: (() => void)[] = [];
  const connection = {
    remoteAddr: multiaddr(`/ip4/${host}/tcp/${port}`),
    remotePeer: peer,
    direction: 'inbound',
    timeline: { open: Date.now() },
    addEventListener: (_: 'close', listener: () => void) => closed.push(listener),
    abort: (error: Error) => aborted.push(error),
  };
  return { aborted, closed, connection: connection as unknown as Connection & MultiaddrConnection };
};

it('the gate limits pending connections of one address, and admits more when those are upgraded or closed', async () => {
  const peer = await newPeerId();
  const gater = gaterOf();
  const isLetIn = ({ connection }: { connection: MultiaddrConnection }) => !gater.denyInboundConnection?.(connection);
  const come = (port: number, host = '192.0.2.9') => isLetIn(connectionOf(host, port, peer));
  const some = Array.from({ length: CONNECTIONS.maxPendingPerHost }, (_, at) => connectionOf('192.0.2.9', at, peer));
  assert.ok(some.every(isLetIn));
  assert.deepEqual([come(100), come(1, '192.0.2.1')], [false, true]);
  for (const close of some[0]?.closed ?? []) close();
  assert.deepEqual([come(101), come(102)], [true, false]);
  assert.ok(some[1] && !gater.denyInboundUpgradedConnection?.(peer, some[1].connection));
  assert.ok(come(103));
});

it('the gate admits a new peer when all slots are taken, in the slot of a machine that has many', async () => {
  const [many, single] = await Promise.all([newPeerId(), newPeerId()]);
  const taken = Array.from({ length: CONNECTIONS.max }, (_, port) => connectionOf('192.0.2.9', port, many));
  const gater = gaterOf(taken.map(({ connection }) => connection));
  const { connection: first } = connectionOf('192.0.2.1', 1, single);
  const { connection: another } = connectionOf('192.0.2.9', 2, many);
  const countAborted = () => taken.filter(({ aborted }) => aborted.length > 0).length;
  assert.equal(gater.denyInboundConnection?.(another), true);
  assert.equal(gater.denyInboundConnection?.(first), false);
  assert.equal(countAborted(), 0, 'no connection is closed before a key is proved');
  assert.equal(gater.denyInboundUpgradedConnection?.(single, first), false);
  assert.equal(countAborted(), 1);
});

it('the gate denies a dial to an address that no host of the network can have', () => {
  const denied = `/ip4/169.254.169.254/tcp/80 /ip4/0.0.0.0/tcp/4001 /ip4/100.100.100.200/tcp/80
    /ip4/168.63.129.16/tcp/80 /ip4/224.0.0.251/tcp/4001 /ip4/255.255.255.255/tcp/4001 /ip6/::/tcp/4001
    /ip6/fe80::1/tcp/4001 /ip6/ff02::1/tcp/4001 /ip6/fd00:ec2::254/tcp/80 /ip6/fd20:ce::254/tcp/80
    /ip6/::ffff:a9fe:a9fe/tcp/80 /ip6/64:ff9b::a9fe:a9fe/tcp/80 /ip4/169.254.169.254/tcp/80/ws`.split(/\s+/);
  const allowed = `/ip4/127.0.0.1/tcp/4001 /ip4/192.168.1.5/tcp/4001 /ip4/93.184.216.34/tcp/4001 /ip6/fd00::5/tcp/4001
    /ip6/2606:4700::1111/tcp/4001 /dns4/gateway.example/tcp/4001`.split(/\s+/);
  const isDenied = (address: string) => gaterOf().denyDialMultiaddr?.(multiaddr(address)) ?? false;
  assert.deepEqual([...denied, ...allowed].filter(isDenied), denied);
});

it('a private network has one key of 32 bytes, of the option or of the tokens', () => {
  const key = new Uint8Array(32).fill(7);
  assert.equal(networkKeyOf(undefined, [{}]), undefined);
  assert.equal(networkKeyOf(undefined, [{}, { networkKey: key }]), key);
  assert.equal(networkKeyOf(key, [{ networkKey: key.slice() }]), key);
  assert.throws(() => networkKeyOf(key, [{ networkKey: new Uint8Array(32) }]), RangeError);
  assert.throws(() => networkKeyOf(new Uint8Array(31), []), RangeError);
});

it('a private network has its own LAN service name, which fits a DNS label and does not reveal the key', () => {
  const key = new Uint8Array(32).fill(7);
  const names = [lanServiceName(undefined), lanServiceName(key), lanServiceName(new Uint8Array(32))];
  assert.equal(new Set(names).size, 3);
  for (const name of names) assert.match(name, /^(?!.*0707)_strata[-0-9a-f]{0,20}\._udp\.local$/);
});

const idle = (host: string, more: { isKept?: boolean; isBusy?: boolean; openedAtMs?: number } = {}) => {
  return { host, isKept: false, isBusy: false, openedAtMs: 0, ...more };
};
const many = (host: string, count: number, more = {}) =>
  Array.from({ length: count }, (_, at) => idle(host, { openedAtMs: at, ...more }));

it('evicts the youngest idle peer of the address that has the most', () => {
  const busiest = many('busiest', 5);
  const open = [...many('few', 3), ...busiest, idle('one')];
  assert.equal(connectionToEvict(open, 'new', 0), busiest[4]);
  assert.equal(connectionToEvict(open, 'busiest', 0), undefined, 'a busy address evicts no connection of another');
});

it('never evicts a peer that this host dialled or was asked to join, or that is at work', () => {
  assert.equal(connectionToEvict(many('busiest', 9, { isKept: true }), 'new', 0), undefined);
  assert.equal(connectionToEvict(many('busiest', 9, { isBusy: true }), 'new', 0), undefined);
  const tooMany = many('busiest', CONNECTIONS.maxBusyPerHostWhenFull + 1, { isBusy: true });
  assert.equal(connectionToEvict(tooMany, 'new', 0), tooMany.at(-1));
});

it('evicts a long idle peer if no address has more connections than the rest', () => {
  const open = [idle('a', { openedAtMs: 90_000 }), idle('b'), idle('c', { isBusy: true })];
  assert.equal(connectionToEvict(open, 'new', 100_000), open[1]);
  assert.equal(connectionToEvict([...open, idle('busiest'), idle('busiest')], 'busiest', 100_000)?.host, 'busiest');
  assert.equal(connectionToEvict(open, 'new', 10_000), undefined);
});
