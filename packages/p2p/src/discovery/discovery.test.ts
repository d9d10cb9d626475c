import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { multiaddr } from '@multiformats/multiaddr';
import type { Libp2p } from 'libp2p';
import { CID } from 'multiformats/cid';
import { sha256 } from 'multiformats/hashes/sha2';
import { until } from '../../../../tests/support/until.ts';
import { MessageReader } from '../channels/message-reader.ts';
import { RECORDS } from '../limits.ts';
import type { PeerNode } from '../peer-node.ts';
import { addressOf, newPeerId, startForeignNode, useHosts, within } from '../test/hosts.ts';
import { worthDialling } from './providers.ts';

const KEY = Buffer.from('model');

const found = (node: PeerNode, key: Uint8Array, ms = 5_000) => Array.fromAsync(node.peers.find(key, within(ms)));

const findsSoon = (node: PeerNode, key: Uint8Array, peer: string) =>
  until(async () => {
    for await (const each of node.peers.find(key, within(5_000))) if (each === peer) return true;
    return false;
  });

describe('finding the providers of a key', { concurrency: true }, () => {
  const hosts = useHosts();
  it('works with two hosts, also when the key was provided before any peer was connected', async () => {
    const a = await hosts.start('a');
    await a.peers.provide(KEY);
    const b = await hosts.start('b', { join: [a.joinToken()] });
    await b.peers.provide(Buffer.from('other'));
    await findsSoon(b, KEY, a.id);
    await findsSoon(a, Buffer.from('other'), b.id);
    assert.deepEqual(await found(a, Buffer.from('nothing'), 1_000), []);
  });
  it('yields each provider once and connected, found through a third host, and not the asking host itself', async () => {
    const hub = await hosts.start('h');
    const start = (name: string) => hosts.start(name, { join: [hub.joinToken()] });
    const [first, second, asker] = [await start('p1'), await start('p2'), await start('q')];
    await until(() => hub.peers.connected().length === 3);
    for (const node of [first, second, asker]) await node.peers.provide(KEY);
    await until(async () => {
      const peers = await found(asker, KEY);
      assert.deepEqual(peers, [...new Set(peers)]);
      assert.ok(!peers.includes(asker.id));
      const connected = new Set(asker.peers.connected().map(({ id }) => id));
      assert.ok(peers.every((peer) => connected.has(peer)));
      return peers.includes(first.id) && peers.includes(second.id);
    });
  });
  it('ends on its timeout, without any peer to query', async () => {
    const alone = await hosts.start('alone');
    assert.deepEqual(await found(alone, KEY, 300), []);
    await alone.peers.provide(KEY);
  });
  it('provides a bounded number of keys', async () => {
    const greedy = await hosts.start('greedy');
    for (let at = 0; at < RECORDS.maxProvided; at += 1) await greedy.peers.provide(Buffer.from(`${at}`));
    await assert.rejects(greedy.peers.provide(Buffer.from('one more')), /already provided/);
    await greedy.peers.provide(Buffer.from('0'));
  });
});

const cid = CID.createV1(0x55, await sha256.digest(Buffer.from('model'))).bytes;
/** Fields of https://github.com/libp2p/specs/blob/master/kad-dht/README.md#rpc-messages: type 3 is GET_PROVIDERS, 2 ADD_PROVIDER. */
const field = (tag: number, bytes: Uint8Array) => Buffer.concat([Uint8Array.of(tag, bytes.byteLength), bytes]);
const message = (type: number, ...fields: Uint8Array[]) => {
  const body = Buffer.concat([Uint8Array.of(0x08, type), field(0x12, cid), ...fields]);
  const length = body.byteLength < 128 ? [body.byteLength] : [(body.byteLength & 0x7f) | 0x80, body.byteLength >> 7];
  return Buffer.concat([Uint8Array.from(length), body]);
};

describe('the DHT', () => {
  const hosts = useHosts();
  let host: PeerNode;
  let foreign: Libp2p;
  before(async () => {
    [host, foreign] = await Promise.all([hosts.start('host'), startForeignNode()]);
  });
  after(() => foreign.stop());
  it('limits the messages per second of a peer on any number of streams, and answers other peers', async () => {
    const connection = await foreign.dial(multiaddr(addressOf(host)));
    const beganAt = Date.now();
    const asked = Array.from({ length: 4 }, async () => {
      const stream = await connection.newStream('/strata/kad/1.0.0');
      const chunks: Uint8Array[] = [];
      stream.addEventListener('message', ({ data }) => chunks.push(data.subarray()));
      stream.send(Buffer.concat(Array.from({ length: 200 }, () => message(3))));
      await once(stream, 'close');
      return [...new MessageReader().read(Buffer.concat(chunks))].length;
    });
    const answered = (await Promise.all(asked)).reduce((sum, count) => sum + count);
    const max = RECORDS.messages.limit * (1 + (Date.now() - beganAt) / RECORDS.messages.period) + 1;
    assert.ok(answered > 0 && answered <= max, `${answered} answers of 800 questions, ${max} allowed`);

    const [provider, asker] = await Promise.all([hosts.start('provider'), hosts.start('asker')]);
    for (const node of [provider, asker]) await node.peers.join(addressOf(host), within());
    await provider.peers.provide(Buffer.from('another'));
    await findsSoon(asker, Buffer.from('another'), provider.id);
  });
  it('closes a stream whose message names too many peers', async () => {
    const stream = await foreign.dialProtocol(multiaddr(addressOf(host)), '/strata/kad/1.0.0');
    const closed = once(stream, 'close');
    const peers = Array.from({ length: RECORDS.maxPeersPerMessage + 1 }, () => field(0x4a, field(0x0a, cid)));
    stream.send(message(2, ...peers));
    await closed;
    assert.notEqual(stream.status, 'closed');
  });
  it('limits the addresses dialled per provider, and dials no LAN address that a remote peer named', async () => {
    const id = await newPeerId();
    const near = multiaddr('/ip4/192.168.1.7/tcp/4001');
    const far = Array.from({ length: 9 }, (_, at) => multiaddr(`/ip4/1.1.1.${at}/tcp/4001`));
    const dialled = worthDialling({ id, multiaddrs: [near, ...far] }, true).map(String);
    assert.deepEqual([dialled[0], dialled.length], [`/ip4/1.1.1.0/tcp/4001/p2p/${id}`, 4]);
    assert.equal(worthDialling({ id, multiaddrs: [near] }, false).join(), `${near}/p2p/${id}`);
  });
});
