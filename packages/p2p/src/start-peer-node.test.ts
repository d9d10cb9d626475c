import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { noise } from '@libp2p/noise';
import { multiaddr } from '@multiformats/multiaddr';
import { until } from '../../../tests/support/until.ts';
import { CONNECTIONS } from './limits.ts';
import { verifyPeerSignature } from './peer-signature.ts';
import { addressOf, portOf, startStranger, useHosts, within } from './test/hosts.ts';

describe('host', { concurrency: true }, () => {
  const hosts = useHosts();

  it('keeps its identity, and signs with it', async () => {
    const first = await hosts.start('same');
    const signature = await first.sign(Buffer.from('offer'));
    assert.ok(await verifyPeerSignature(first.id, Buffer.from('offer'), signature));
    assert.ok(!(await verifyPeerSignature(first.id, Buffer.from('other'), signature)));
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    assert.equal((await hosts.start('same')).id, first.id);
  });

  it('is the only one with its key, until it is gone', async () => {
    const keyFile = path.join(hosts.directory, 'only.key');
    const message = new RegExp(`^another process runs with the key file ${keyFile}: stop it`);
    const first = await hosts.start('only');
    await assert.rejects(hosts.start('only'), { name: 'KeyFileError', message });
    await first[Symbol.asyncDispose]();
    assert.equal((await hosts.start('only')).id, first.id);
  });

  it('prefers TLS, and speaks Noise with who has no TLS', async () => {
    const node = await hosts.start('both');
    const other = await startStranger({ connectionEncrypters: [noise()] });
    const connection = await other.dial(multiaddr(addressOf(node)));
    assert.equal(connection.encryption, '/noise');
    await until(() => node.peers.connected().length === 1);
    await other.stop();
  });

  it('says where it is, or what it was told to say, and keeps private addresses to itself when asked', async () => {
    const announce = ['/dns4/strata.example/tcp/4001'];
    const announced = await hosts.start('announced', { announce });
    assert.deepEqual(announced.addresses(), [`${announce[0]}/p2p/${announced.id}`]);
    const shy = await hosts.start('shy', { arePrivateAddressesTold: false });
    assert.deepEqual(shy.addresses(), []);
  });

  it('refuses to start where its port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const listen = [`/ip4/127.0.0.1/tcp/${port}`];
    const message = `the address 127.0.0.1:${port} is in use by another program, or by another host of this machine: choose where to listen with STRATA_P2P_LISTEN`;
    for (const _again of [1, 2])
      await assert.rejects(hosts.start('taken', { listen }), { name: 'ListenError', message });
    server.close();
    await once(server, 'close');
    assert.ok(await hosts.start('taken', { listen }), 'what did not start holds nothing');
  });

  it('has a bounded number of connections to one peer, and a bounded rate of them from one machine', async () => {
    const node = await hosts.start('bounded');
    const other = await startStranger();
    const address = multiaddr(addressOf(node));
    const dials = Array.from({ length: CONNECTIONS.mostPerPeer + 4 }, () => other.dial(address, { force: true }));
    await Promise.allSettled(dials);
    await until(() => node.peers.connected().length <= CONNECTIONS.mostPerPeer);
    await other.stop();

    let refused = 0;
    const sockets = Array.from({ length: 2 * CONNECTIONS.mostInboundPerHostPerSecond }, () =>
      connect(portOf(node), '127.0.0.1')
        .on('error', () => {})
        .on('close', () => {
          refused += 1;
        }),
    );
    await until(() => refused >= CONNECTIONS.mostInboundPerHostPerSecond);
    for (const socket of sockets) socket.destroy();
  });

  // Only Linux has all of 127.0.0.0/8 without being told.
  it('is not closed to others by one machine that opens sockets and says nothing', {
    skip: process.platform !== 'linux',
  }, async () => {
    const node = await hosts.start('patient');
    const other = await hosts.start('honest');
    const silent = new Set<Socket>();
    const open = () => {
      const socket = connect({ port: portOf(node), host: '127.0.0.1', localAddress: '127.0.0.9' });
      silent.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => silent.delete(socket));
    };
    const refill = setInterval(() => {
      while (silent.size < 100) open();
    }, 10);
    try {
      await until(() => silent.size === 100);
      await other.peers.join(addressOf(node), within());
      assert.equal(node.peers.connected().length, 1);
    } finally {
      clearInterval(refill);
      for (const socket of silent) socket.destroy();
    }
  });
});
