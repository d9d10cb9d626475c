import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { until } from '../../../../tests/support/until.ts';
import { KNOWN_PEERS } from '../limits.ts';
import { useHosts, within } from '../test/hosts.ts';
import { KnownPeers } from './known-peers.ts';

const KEY = Buffer.from('model');

describe('known peers', { concurrency: true }, () => {
  const hosts = useHosts();
  it('keep a network of four connected when its bootstrap node is offline, and let a host rejoin', async () => {
    const bootstrap = await hosts.start('bootstrap');
    const join = [bootstrap.joinToken()];
    const start = (name: string) =>
      hosts.start(name, { join, knownPeersFile: path.join(hosts.directory, `${name}.json`) });
    const nodes = await Promise.all([start('1'), start('2'), start('3'), start('4')]);
    const [one, two, three, four] = nodes;
    await until(() => nodes.every((node) => node.peers.connected().length >= 2));
    const file = path.join(hosts.directory, '4.json');
    await until(async () => {
      const known = await readFile(file, 'utf8').catch(() => '');
      return [one, two, three].some(({ id }) => known.includes(id));
    });
    await bootstrap[Symbol.asyncDispose]();
    await four[Symbol.asyncDispose]();
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const back = await start('4');
    assert.equal(back.id, four.id);
    await until(() => back.peers.connected().length > 0);

    const received = new Set<string>();
    for (const node of [one, two, three])
      await node.gossip.subscribe('t', (_, from) => {
        if (from === back.id) received.add(node.id);
        return 'accept';
      });
    await back.gossip.subscribe('t', () => 'accept');
    await until(async () => {
      await back.gossip.publish('t', Buffer.from(`${Date.now()}`));
      await new Promise((resolve) => setTimeout(resolve, 200));
      return received.size === 3;
    });
    await back.peers.provide(KEY);
    await until(async () => (await Array.fromAsync(three.peers.find(KEY, within(5_000)))).includes(back.id));
  });
  it('start empty from a damaged or hostile file', async () => {
    const a = await hosts.start('a');
    const peers = [{ id: 'x', addresses: ['/ip4/no'], seenAt: new Date().toISOString() }];
    const begin = async (content: string, index: number) => {
      const knownPeersFile = path.join(hosts.directory, `damaged-${index}.json`);
      await writeFile(knownPeersFile, content);
      const node = await hosts.start(`damaged-${index}`, { knownPeersFile });
      await node.peers.join(a.joinToken(), within());
      await until(async () => (await readFile(knownPeersFile, 'utf8')).includes(a.id));
    };
    await Promise.all(['', '{', '{"version":2}', JSON.stringify({ version: 1, peers })].map(begin));
  });

  const atPort = (host: string, port: number) => `/ip4/${host}/tcp/${port}`;
  const isKnown = (known: KnownPeers, peer: string) => known.list().some(({ id }) => id === peer);
  it('are bounded, and the last one observed comes first', async () => {
    const known = await KnownPeers.load(undefined);
    for (let at = 0; at < KNOWN_PEERS.max + 5; at += 1)
      known.add(`peer-${at}`, { reached: atPort('192.0.2.1', at + 1), announced: [] }, new Date(at));
    assert.deepEqual([known.list().length, known.list()[0]?.id], [KNOWN_PEERS.max, `peer-${KNOWN_PEERS.max + 4}`]);
    for (let at = 0; at < 10; at += 1)
      known.add('peer-100', { announced: [atPort('192.0.2.2', at + 1), 'x'.repeat(999)] }, new Date());
    const { id, addresses } = known.list()[0] ?? assert.fail('no peer is known');
    const expected = ['peer-100', atPort('192.0.2.2', 10), KNOWN_PEERS.maxAddresses];
    assert.deepEqual([id, addresses[0], addresses.length], expected);
    known.add('silent', { announced: [] }, new Date());
    assert.ok(!isKnown(known, 'silent'));
  });
  it('are written at once when the host stops', async () => {
    const file = path.join(hosts.directory, 'stopped.json');
    const known = await KnownPeers.load(file);
    known.add('peer', { announced: [atPort('192.0.2.1', 1)] }, new Date());
    await known[Symbol.asyncDispose]();
    assert.ok(isKnown(await KnownPeers.load(file), 'peer'));
  });
  it('that only announced an address do not evict those that were reached', async () => {
    const known = await KnownPeers.load(undefined);
    known.add('gateway', { reached: atPort('192.0.2.1', 4001), announced: [] }, new Date());
    const announce = (id: string) => known.add(id, { announced: [atPort('203.0.113.7', 80)] }, new Date());
    for (let at = 0; at < 2 * KNOWN_PEERS.max; at += 1) announce(`announced-${at}`);
    assert.deepEqual([known.list()[0]?.id, known.list().length], ['gateway', 1 + KNOWN_PEERS.maxAnnounced]);
    for (let at = 0; at < KNOWN_PEERS.max; at += 1)
      known.add(`friend-${at}`, { reached: atPort('192.0.2.2', at + 1), announced: [] }, new Date());
    announce('another');
    assert.deepEqual([known.list().length, isKnown(known, 'another')], [KNOWN_PEERS.max, false]);
  });
});
