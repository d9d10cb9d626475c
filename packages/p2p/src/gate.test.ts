import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { generateKeyPair } from '@libp2p/crypto/keys';
import type { Connection, MultiaddrConnection, PeerId } from '@libp2p/interface';
import { peerIdFromPrivateKey } from '@libp2p/peer-id';
import { multiaddr } from '@multiformats/multiaddr';
import { until } from '../../../tests/support/until.ts';
import { createGate } from './gate.ts';
import { ChannelError } from './inbox.ts';
import { JoinError } from './join-target.ts';
import { CONNECTIONS } from './limits.ts';
import { lanServiceName, networkKeyOf } from './private-network.ts';
import { addressOf, useHosts, within } from './test/hosts.ts';

describe('who may connect', { concurrency: true }, () => {
  const hosts = useHosts();

  it('is only who has the key of a private network', async () => {
    const networkKey = randomBytes(32);
    const inside = await hosts.start('inside', { networkKey });
    const outside = await hosts.start('outside');
    const elsewhere = await hosts.start('elsewhere', { networkKey: randomBytes(32) });
    // What they say to each other is noise, and neither answers.
    const isTold = (error: unknown) => error instanceof JoinError && /private network/.test(error.message);
    await Promise.all(
      [outside, elsewhere].flatMap((stranger) => [
        assert.rejects(stranger.peers.join(addressOf(inside), within(700)), isTold),
        assert.rejects(inside.peers.join(addressOf(stranger), within(700)), isTold),
        assert.rejects(stranger.channels.open(inside.id, '/x', within(700)), ChannelError),
      ]),
    );
    await assert.rejects(outside.peers.join(inside.joinToken(), within()), /private network/);
    assert.deepEqual(inside.peers.connected(), []);
  });

  it('is let into a private network by its join token alone', async () => {
    const gateway = await hosts.start('gateway', { networkKey: randomBytes(32) });
    const worker = await hosts.start('worker', { join: [gateway.joinToken()] });
    await until(() => worker.peers.connected().length === 1);
    const third = await hosts.start('third', { join: [worker.joinToken()] });
    await until(() => third.peers.connected().length >= 1);
    await assert.rejects(hosts.start('torn', { networkKey: randomBytes(32), join: [gateway.joinToken()] }), RangeError);
  });

  it('is on the allow-list, whoever dials', async () => {
    const friend = await hosts.start('friend');
    const stranger = await hosts.start('stranger');
    const refused: string[] = [];
    const strict = await hosts.start('strict', { allow: [friend.id], onRefused: (peer) => refused.push(peer) });
    await assert.rejects(strict.peers.join(addressOf(stranger), within()), JoinError);
    for (const _again of [1, 2])
      await assert.rejects(stranger.peers.join(addressOf(strict), within()), (error) => {
        assert.ok(error instanceof JoinError);
        assert.match(error.message, /allow-list/);
        assert.ok(error.message.includes(stranger.id), 'it says which id to allow');
        return true;
      });
    assert.deepEqual(refused, [stranger.id], 'said to who allows, and not again and again');
    await until(() => stranger.peers.connected().length === 0);
    assert.deepEqual(strict.peers.connected(), []);
    await friend.peers.join(addressOf(strict), within());
    await until(() => strict.peers.connected().length === 1);
  });

  it('is not oneself', async () => {
    const node = await hosts.start('alone');
    await assert.rejects(node.peers.join(addressOf(node), within()), JoinError);
    assert.deepEqual(node.peers.connected(), []);
  });
});

describe('gate', () => {
  /** As much of a connection as the gate looks at. */
  const connectionOf = (address: string, peer: PeerId) => {
    const aborted: Error[] = [];
    const closed: (() => void)[] = [];
    const connection = {
      remoteAddr: multiaddr(address),
      remotePeer: peer,
      direction: 'inbound',
      timeline: { open: Date.now() },
      addEventListener: (_: 'close', listener: () => void) => closed.push(listener),
      abort: (error: Error) => aborted.push(error),
    };
    return { aborted, closed, connection: connection as unknown as Connection & MultiaddrConnection };
  };

  it('lets so many of one address come at once, and more when those are through or gone', async () => {
    const peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519'));
    const parts = { allow: undefined, named: [], connections: () => [], isBusy: () => false, onRefused: () => {} };
    const { gater } = createGate('self', parts);
    const come = (port: number, host = '192.0.2.9') => connectionOf(`/ip4/${host}/tcp/${port}`, peer);
    const isLetIn = ({ connection }: { connection: MultiaddrConnection }) => !gater.denyInboundConnection?.(connection);
    const some = Array.from({ length: CONNECTIONS.mostPendingPerHost }, (_, port) => come(port));
    assert.ok(some.every(isLetIn));
    assert.ok(!isLetIn(come(100)));
    assert.ok(isLetIn(come(1, '192.0.2.1')));
    for (const close of some[0]?.closed ?? []) close();
    assert.ok(isLetIn(come(101)));
    assert.ok(!isLetIn(come(102)));
    assert.ok(some[1] && !gater.denyInboundUpgradedConnection?.(peer, some[1].connection));
    assert.ok(isLetIn(come(103)));
  });

  it('lets a newcomer in when all places are taken, in the place of a machine that has many', async () => {
    const key = () => generateKeyPair('Ed25519').then(peerIdFromPrivateKey);
    const [crowd, honest, self] = await Promise.all([key(), key(), key()]);
    const taken = Array.from({ length: CONNECTIONS.most }, (_, port) =>
      connectionOf(`/ip4/192.0.2.9/tcp/${port}`, crowd),
    );
    const all = taken.map(({ connection }) => connection);
    const { gater } = createGate(self.toString(), {
      allow: undefined,
      named: [],
      connections: (peer) => (peer ? [] : all),
      isBusy: () => false,
      onRefused: () => {},
    });
    const { connection: newcomer } = connectionOf('/ip4/192.0.2.1/tcp/1', honest);
    const { connection: another } = connectionOf('/ip4/192.0.2.9/tcp/2', crowd);
    assert.equal(gater.denyInboundConnection?.(another), true);
    assert.equal(gater.denyInboundConnection?.(newcomer), false);
    assert.equal(
      taken.filter(({ aborted }) => aborted.length > 0).length,
      0,
      'before a key is proved nobody gives way',
    );
    assert.equal(gater.denyInboundUpgradedConnection?.(honest, newcomer), false);
    assert.equal(taken.filter(({ aborted }) => aborted.length > 0).length, 1);
  });
});

describe('private network', () => {
  it('has one key of 32 bytes, of the option or of the tokens', () => {
    const key = new Uint8Array(32).fill(7);
    assert.equal(networkKeyOf(undefined, [{}]), undefined);
    assert.equal(networkKeyOf(undefined, [{}, { networkKey: key }]), key);
    assert.equal(networkKeyOf(key, [{ networkKey: key.slice() }]), key);
    assert.throws(() => networkKeyOf(key, [{ networkKey: new Uint8Array(32) }]), RangeError);
    assert.throws(() => networkKeyOf(new Uint8Array(31), []), RangeError);
  });

  it('meets on the LAN under a name of its own, which fits a DNS label and does not tell the key', () => {
    const key = new Uint8Array(32).fill(7);
    const names = [lanServiceName(undefined), lanServiceName(key), lanServiceName(new Uint8Array(32))];
    assert.equal(new Set(names).size, 3);
    for (const name of names) assert.match(name, /^_strata[-0-9a-f]{0,20}\._udp\.local$/);
    assert.ok(!lanServiceName(key).includes('0707'));
  });
});
