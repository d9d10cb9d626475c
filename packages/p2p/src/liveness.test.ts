import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Hosts, portOf, testHosts, until, within } from './test/hosts.ts';

describe('liveness', () => {
  let hosts: Hosts;
  before(async () => {
    hosts = await testHosts();
  });
  after(() => hosts[Symbol.asyncDispose]());

  it('finds out that a peer has fallen silent without a word', async () => {
    const node = await hosts.start('watchful');
    const quiet = await hosts.start('quiet');
    // Bytes pass through here until they do not: nothing is closed, nothing is refused.
    const through = new Set<Socket>();
    const proxy = createServer((near) => {
      const far = connect(portOf(quiet), '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        socket.on('error', () => {});
        through.add(socket);
      }
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as { port: number };
    await node.peers.join(`/ip4/127.0.0.1/tcp/${port}/p2p/${quiet.id}`, within());
    for (const socket of through) socket.unpipe().pause();
    await until(() => node.peers.connected().length === 0, 30_000);
    for (const socket of through) socket.destroy();
    proxy.close();
  });
});
