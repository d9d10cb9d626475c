// Hosts as processes: killed, and ended in good order.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import type { Channel } from './channels/channel.ts';
import { ChannelError } from './channels/inbox.ts';
import { addressOf, useHosts } from './test/hosts.ts';

/** Runs `program` in a process with `startPeerNode` in scope; its output is `printed`. */
function run(program: string) {
  const source = `import { startPeerNode } from ${JSON.stringify(path.join(import.meta.dirname, 'start-peer-node.ts'))};`;
  const args = ['--input-type=module', '-e', source + program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  const result = { child, printed: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => {
      result.printed += bytes;
    });
  return result;
}

describe('a host', () => {
  const hosts = useHosts();
  const inDirectory = (name: string) => JSON.stringify(path.join(hosts.directory, name));
  it('sees at once that a process was killed in the middle of an answer', async () => {
    const node = await hosts.start('survivor');
    const opened = Promise.withResolvers<Channel>();
    await node.channels.handle('/test/answer', opened.resolve);
    const victim = run(`
      const node = await startPeerNode({ keyFile: ${inDirectory('victim')}, listen: [], isMdnsOn: false });
      await node.peers.join(${JSON.stringify(addressOf(node))}, { signal: AbortSignal.timeout(30000) });
      const options = { signal: AbortSignal.timeout(30000) };
      const channel = await node.channels.open(${JSON.stringify(node.id)}, '/test/answer', options);
      await channel.send(new Uint8Array([1]));`);
    const ended = once(victim.child, 'close').then(() => assert.fail(`the process ended early: ${victim.printed}`));
    const messages = (await Promise.race([opened.promise, ended])).messages[Symbol.asyncIterator]();
    ended.catch(() => {});
    await messages.next();
    const lost = assert.rejects(messages.next(), ChannelError);
    const killedAt = performance.now();
    victim.child.kill('SIGKILL');
    await lost;
    await until(() => node.peers.connected().length === 0);
    // Long before a ping would be missed.
    assert.ok(performance.now() - killedAt < 5_000);
  });
  it('leaves nothing behind when it is closed: its process ends by itself', async () => {
    const closing = run(`
      const start = (name) => startPeerNode({ keyFile: ${inDirectory('child-')} + name,
        listen: ['/ip4/0.0.0.0/tcp/0', '/ip4/127.0.0.1/tcp/0/ws'], isRelay: true,
        networkKey: new Uint8Array(32).fill(9), knownPeersFile: ${inDirectory('known-')} + name });
      const [a, b] = [await start('a'), await start('b')];
      await a.channels.handle('/test', () => {});
      await b.peers.join(a.joinToken(), { signal: AbortSignal.timeout(30000) });
      await b.channels.open(a.id, '/test', { signal: AbortSignal.timeout(30000) });
      await b.gossip.subscribe('t', () => 'accept');
      await b.peers.provide(new Uint8Array(3));
      await Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()]);
      console.log('closed');`);
    const [code] = await once(closing.child, 'close');
    assert.deepEqual([code, closing.printed], [0, 'closed\n']);
  });
});
