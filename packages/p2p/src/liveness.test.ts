import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { portOf, useHosts, within } from './test/hosts.ts';

describe('liveness', () => {
  const hosts = useHosts();

  it('finds out that a peer has fallen silent without a word', async () => {
    const node = await hosts.start('watchful', { liveness: { pingIntervalMs: 100, pingTimeoutMs: 500 } });
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
    await until(() => node.peers.connected().length === 0);
    for (const socket of through) socket.destroy();
    proxy.close();
  });
});
