import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ChannelError } from './inbox.ts';
import { JoinError } from './join-target.ts';
import { lanServiceName, networkKeyOf } from './private-network.ts';
import { addressOf, type Hosts, testHosts, until, within } from './test/hosts.ts';

describe('who may connect', () => {
  let hosts: Hosts;
  before(async () => {
    hosts = await testHosts();
  });
  after(() => hosts[Symbol.asyncDispose]());

  it('is only who has the key of a private network', async () => {
    const networkKey = randomBytes(32);
    const inside = await hosts.start('inside', { networkKey });
    const outside = await hosts.start('outside');
    const elsewhere = await hosts.start('elsewhere', { networkKey: randomBytes(32) });
    // What they say to each other is noise, and neither answers.
    await Promise.all(
      [outside, elsewhere].flatMap((stranger) => [
        assert.rejects(stranger.peers.join(addressOf(inside), within(2_000)), JoinError),
        assert.rejects(inside.peers.join(addressOf(stranger), within(2_000)), JoinError),
        assert.rejects(stranger.channels.open(inside.id, '/x', within(2_000)), ChannelError),
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
    const strict = await hosts.start('strict', { allow: [friend.id] });
    await assert.rejects(strict.peers.join(addressOf(stranger), within()), JoinError);
    await stranger.peers.join(addressOf(strict), within()).catch(() => {});
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
