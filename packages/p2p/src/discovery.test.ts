import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { RECORDS } from './limits.ts';
import type { PeerNode } from './peer-node.ts';
import { useHosts, within } from './test/hosts.ts';

const KEY = Buffer.from('model');

const found = (node: PeerNode, key: Uint8Array, ms = 5_000): Promise<string[]> =>
  Array.fromAsync(node.peers.find(key, within(ms)));

/** Whether `peer` is found, without waiting for the other providers of the key. */
async function isFound(node: PeerNode, key: Uint8Array, peer: string): Promise<boolean> {
  for await (const each of node.peers.find(key, within(5_000))) if (each === peer) return true;
  return false;
}

describe('finding who has what', { concurrency: true }, () => {
  const hosts = useHosts();

  it('works with two hosts, also when the key was provided before anyone was there', async () => {
    const a = await hosts.start('a');
    await a.peers.provide(KEY);
    const b = await hosts.start('b', { join: [a.joinToken()] });
    await b.peers.provide(Buffer.from('other'));
    await until(() => isFound(b, KEY, a.id));
    await until(() => isFound(a, Buffer.from('other'), b.id));
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
