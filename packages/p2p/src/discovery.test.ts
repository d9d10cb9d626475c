import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { RECORDS } from './limits.ts';
import type { PeerNode } from './peer-node.ts';
import { type Hosts, testHosts, until, within } from './test/hosts.ts';

const KEY = Buffer.from('model');

async function found(node: PeerNode, key: Uint8Array, ms = 5_000): Promise<string[]> {
  const peers: string[] = [];
  for await (const peer of node.peers.find(key, within(ms))) peers.push(peer);
  return peers;
}

describe('finding who has what', () => {
  let hosts: Hosts;
  before(async () => {
    hosts = await testHosts();
  });
  after(() => hosts[Symbol.asyncDispose]());

  it('works with two hosts, also when the key was provided before anyone was there', async () => {
    const a = await hosts.start('a');
    await a.peers.provide(KEY);
    const b = await hosts.start('b', { join: [a.joinToken()] });
    await b.peers.provide(Buffer.from('other'));
    await until(async () => (await found(b, KEY)).includes(a.id));
    await until(async () => (await found(a, Buffer.from('other'))).includes(b.id));
    assert.deepEqual(await found(a, Buffer.from('nothing'), 1_000), []);
  });

  it('gives each provider once and connected, over who knows it, and not oneself', async () => {
    const [hub, first, second, asker] = await Promise.all(['h', 'p1', 'p2', 'q'].map((name) => hosts.start(name)));
    assert.ok(hub && first && second && asker);
    for (const node of [first, second, asker]) await node.peers.join(hub.joinToken(), within());
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

  it('works with a dozen hosts that joined one after the other', async () => {
    const [bootstrap, ...others] = await Promise.all(
      Array.from({ length: 12 }, (_, index) => hosts.start(`many-${index}`)),
    );
    assert.ok(bootstrap);
    for (const node of others) await node.peers.join(bootstrap.joinToken(), within());
    const [provider, asker] = [others[3], others[9]];
    assert.ok(provider && asker);
    const key = Buffer.from('one of twelve');
    await provider.peers.provide(key);
    await until(async () => (await found(asker, key)).includes(provider.id));
  });

  it('ends when its time is up, with nobody there to ask', async () => {
    const alone = await hosts.start('alone');
    assert.deepEqual(await found(alone, KEY, 300), []);
    await alone.peers.provide(KEY);
  });

  it('provides a bounded number of keys', async () => {
    const greedy = await hosts.start('greedy');
    for (let at = 0; at < RECORDS.mostProvided; at += 1) await greedy.peers.provide(Buffer.from(`${at}`));
    await assert.rejects(greedy.peers.provide(Buffer.from('one more')), /provided already/);
    await greedy.peers.provide(Buffer.from('0'));
  });
});

describe('known peers', () => {
  let hosts: Hosts;
  before(async () => {
    hosts = await testHosts();
  });
  after(() => hosts[Symbol.asyncDispose]());

  it('keep a network of five together when its bootstrap node is gone, and let a host come back', async () => {
    const bootstrap = await hosts.start('bootstrap');
    const join = [bootstrap.joinToken()];
    const options = (name: string) => ({ join, knownPeersFile: path.join(hosts.directory, `${name}.json`) });
    const nodes = await Promise.all(['1', '2', '3', '4'].map((name) => hosts.start(name, options(name))));
    const [one, two, three, four] = nodes;
    assert.ok(one && two && three && four);
    await until(() => nodes.every((node) => node.peers.connected().length >= 2));
    const file = path.join(hosts.directory, '4.json');
    await until(async () => {
      const known = await readFile(file, 'utf8').catch(() => '');
      return [one, two, three].some(({ id }) => known.includes(id));
    });
    await bootstrap[Symbol.asyncDispose]();
    await four[Symbol.asyncDispose]();
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const back = await hosts.start('4', options('4'));
    assert.equal(back.id, four.id);
    await until(() => back.peers.connected().length > 0);

    const heard: string[] = [];
    for (const node of [one, two, three])
      await node.gossip.subscribe('t', (_, from) => {
        if (from === back.id) heard.push(node.id);
        return 'accept';
      });
    await back.gossip.subscribe('t', () => 'accept');
    await until(async () => {
      await back.gossip.publish('t', Buffer.from(`${Date.now()}`));
      await new Promise((resolve) => setTimeout(resolve, 200));
      return [one, two, three].every(({ id }) => heard.includes(id));
    });
    await back.peers.provide(KEY);
    await until(async () => (await found(three, KEY)).includes(back.id));
  });

  it('begin anew from a file that is damaged or hostile', async () => {
    const a = await hosts.start('a');
    const peer = { id: 'x', addresses: ['/ip4/no'], seenAt: new Date().toISOString() };
    const contents = ['', '{', '{"version":2}', JSON.stringify({ version: 1, peers: [peer] })];
    const begin = async (content: string, index: number) => {
      const knownPeersFile = path.join(hosts.directory, `damaged-${index}.json`);
      await writeFile(knownPeersFile, content);
      const node = await hosts.start(`damaged-${index}`, { knownPeersFile });
      await node.peers.join(a.joinToken(), within());
      await until(async () => (await readFile(knownPeersFile, 'utf8')).includes(a.id));
    };
    await Promise.all(contents.map(begin));
  });
});
