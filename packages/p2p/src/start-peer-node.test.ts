// Hosts of the network: identity, encryption, addresses, stopping.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { noise } from '@libp2p/noise';
import { multiaddr } from '@multiformats/multiaddr';
import { until } from '../../../tests/support/until.ts';
import type { Channel } from './channels/channel.ts';
import { verifyPeerSignature } from './identity/peer-signature.ts';
import { CONNECTIONS } from './limits.ts';
import { addressOf, portOf, startForeignNode, useHosts, within } from './test/hosts.ts';

/** Whether what is sent to a group comes back to this machine: containers often have no multicast. */
async function hasMulticast(): Promise<boolean> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true }).bind(0);
  try {
    await once(socket, 'listening');
    socket.addMembership('224.0.0.251');
    socket.send('strata', socket.address().port, '224.0.0.251');
    return Boolean(await once(socket, 'message', { signal: AbortSignal.timeout(1_000) }));
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

describe('host', { concurrency: true }, () => {
  const hosts = useHosts();
  it('keeps its identity, signs with it, and is the only one with its key', async () => {
    const first = await hosts.start('same');
    await assert.rejects(hosts.start('same'), { name: 'KeyFileError' });
    const signature = await first.sign(Buffer.from('offer'));
    for (const text of ['offer', 'other'])
      assert.equal(await verifyPeerSignature(first.id, Buffer.from(text), signature), text === 'offer');
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    assert.equal((await hosts.start('same')).id, first.id);
  });
  it('prefers TLS, and uses Noise with a peer that has no TLS', async () => {
    const node = await hosts.start('both');
    const other = await startForeignNode({ connectionEncrypters: [noise()] });
    const connection = await other.dial(multiaddr(addressOf(node)));
    assert.equal(connection.encryption, '/noise');
    await until(() => node.peers.connected().length === 1);
    await other.stop();
  });
  it('announces its addresses, or the configured ones, and no private ones if so configured', async () => {
    const announce = ['/dns4/strata.example/tcp/4001'];
    const announced = await hosts.start('announced', { announce });
    assert.deepEqual(announced.addresses(), [`${announce[0]}/p2p/${announced.id}`]);
    assert.deepEqual((await hosts.start('shy', { arePrivateAddressesAnnounced: false })).addresses(), []);
  });
  it('refuses to start where its port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const listen = [`/ip4/127.0.0.1/tcp/${port}`];
    const message = `the address 127.0.0.1:${port} is in use by another program, or by another host on this machine: set another one with listen=… of STRATA_P2P`;
    for (const _again of [1, 2])
      await assert.rejects(hosts.start('taken', { listen }), { name: 'ListenError', message });
    server.close();
    await once(server, 'close');
    assert.ok(await hosts.start('taken', { listen }), 'a failed start leaves nothing locked');
  });
  it('has a bounded number of connections to one peer, and a bounded rate of them from one machine', async () => {
    const node = await hosts.start('bounded');
    const other = await startForeignNode();
    const address = multiaddr(addressOf(node));
    const dials = Array.from({ length: CONNECTIONS.maxPerPeer + 4 }, () => other.dial(address, { force: true }));
    await Promise.allSettled(dials);
    await until(() => node.peers.connected().length <= CONNECTIONS.maxPerPeer);
    await other.stop();

    const dial = () => connect(portOf(node), '127.0.0.1').on('error', () => {});
    const sockets = Array.from({ length: 2 * CONNECTIONS.maxInboundPerHostPerSecond }, dial);
    const isRefused = ({ closed }: Socket) => closed;
    await until(() => sockets.filter(isRefused).length >= CONNECTIONS.maxInboundPerHostPerSecond);
    for (const socket of sockets) socket.destroy();
  });

  // Only Linux accepts all of 127.0.0.0/8 without configuration.
  it('is not blocked by one machine that opens sockets and sends nothing', async (t) => {
    if (process.platform !== 'linux') return t.skip();
    const node = await hosts.start('patient');
    const other = await hosts.start('honest');
    const silent = new Set<Socket>();
    const open = (count: number) => {
      for (let n = 0; n < count && silent.size < 100; n += 1) {
        const socket = connect({ port: portOf(node), host: '127.0.0.1', localAddress: '127.0.0.9' });
        silent.add(socket.on('error', () => {}).on('close', () => silent.delete(socket)));
      }
    };
    open(100);
    // More than the node accepts of one machine. Both sides share a process: a late tick, on a busy machine, opens none.
    let tickAt = performance.now();
    const refill = setInterval(() => {
      if (performance.now() - tickAt < 200) open(20);
      tickAt = performance.now();
    }, 100);
    try {
      // Real time: each socket costs both sides work on a busy machine.
      await other.peers.join(addressOf(node), within(120_000));
      assert.equal(node.peers.connected().length, 1);
    } finally {
      clearInterval(refill);
      for (const socket of silent) socket.destroy();
    }
  });
  it('detects a peer that stops responding without closing its connections', async (t) => {
    // Real time: a busy machine must answer the pings before.
    const node = await hosts.start('watchful', { liveness: { pingIntervalMs: 100, pingTimeoutMs: 5_000 } });
    const quiet = await hosts.start('quiet');
    // Bytes pass through here until they do not: nothing is closed, nothing is refused.
    const through = new Set<Socket>();
    const proxy = createServer((near) => {
      const far = connect(portOf(quiet), '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) through.add(socket.on('error', () => {}));
    }).listen(0, '127.0.0.1');
    t.after(() => {
      proxy.close();
      for (const socket of through) socket.destroy();
    });
    await once(proxy, 'listening');
    const { port } = proxy.address() as { port: number };
    await node.peers.join(`/ip4/127.0.0.1/tcp/${port}/p2p/${quiet.id}`, within());
    for (const socket of through) socket.unpipe().pause();
    await until(() => node.peers.connected().length === 0);
  });
  it('makes, as a relay, a host that listens nowhere reachable, and carries channels past the default limit', async () => {
    const relay = await hosts.start('relay', { isRelay: true });
    const worker = await hosts.start('worker', { listen: [], join: [relay.joinToken()] });
    await until(() => worker.addresses().some((address) => address.includes('/p2p-circuit')));
    const accepted = Promise.withResolvers<Channel>();
    await worker.channels.handle('/test/relayed', accepted.resolve);
    const gateway = await hosts.start('gateway', { allow: [relay.id, worker.id] });
    await gateway.peers.join(worker.joinToken(), within());
    const connected = gateway.peers.connected().find(({ id }) => id === worker.id);
    assert.match(`${connected?.isLimited} ${connected?.address}`, /^true .*p2p-circuit/);
    const near = await gateway.channels.open(worker.id, '/test/relayed', within());
    const far = await accepted.promise;
    assert.equal(far.peer, gateway.id);
    const sending = (async () => {
      for (let count = 0; count < 32; count += 1) await near.send(new Uint8Array(64 * 1024).fill(count + 1));
      await near.close();
    })();
    const [received] = await Promise.all([Array.fromAsync(far.messages), sending]);
    assert.equal(Buffer.concat(received).length, 32 * 64 * 1024);
  });
  it('is not a relay unless configured as one', async () => {
    const plain = await hosts.start('plain');
    const worker = await hosts.start('unreached', { listen: [] });
    await worker.peers.join(plain.joinToken(), within());
    await until(() => worker.peers.roundTripMs(plain.id) !== undefined);
    assert.deepEqual(worker.addresses(), []);
    assert.throws(() => worker.joinToken(), /without an address/);
  });
  it('discovers peers on its LAN without an address to join', async (t) => {
    if (!(await hasMulticast())) return t.skip('no multicast here');
    // A network of its own, so that other nodes on this LAN are not found.
    const [networkKey, otherKey] = [randomBytes(32), randomBytes(32)];
    const start = (name: string, networkKey: Uint8Array) =>
      hosts.start(name, { listen: ['/ip4/0.0.0.0/tcp/0'], isMdnsOn: true, networkKey });
    const [a, b, other] = [await start('a', networkKey), await start('b', networkKey), await start('c', otherKey)];
    await until(() => a.peers.connected().some(({ id }) => id === b.id));
    assert.deepEqual(other.peers.connected(), []);
  });
});
