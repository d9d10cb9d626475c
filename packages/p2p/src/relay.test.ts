import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import type { Channel } from './channel.ts';
import { useHosts, within } from './test/hosts.ts';

describe('relay', { concurrency: true }, () => {
  const hosts = useHosts();

  it('makes a host that listens nowhere reachable, and carries channels past the default limit', async () => {
    const relay = await hosts.start('relay', { isRelay: true });
    const worker = await hosts.start('worker', { listen: [], join: [relay.joinToken()] });
    await until(() => worker.addresses().some((address) => address.includes('/p2p-circuit')));
    const accepted = new Promise<Channel>((resolve) => {
      void worker.channels.handle('/test/relayed', resolve);
    });

    const gateway = await hosts.start('gateway', { allow: [relay.id, worker.id] });
    await gateway.peers.join(worker.joinToken(), within());
    const connected = gateway.peers.connected().find(({ id }) => id === worker.id);
    assert.equal(connected?.isLimited, true);
    assert.match(connected?.address ?? '', /p2p-circuit/);

    const near = await gateway.channels.open(worker.id, '/test/relayed', within());
    const far = await accepted;
    assert.equal(far.peer, gateway.id);
    const sending = (async () => {
      for (let count = 0; count < 32; count += 1) await near.send(new Uint8Array(64 * 1024).fill(count + 1));
      await near.close();
    })();
    const [received] = await Promise.all([Array.fromAsync(far.messages), sending]);
    assert.equal(Buffer.concat(received).length, 32 * 64 * 1024);
  });

  it('is none where it was not asked for', async () => {
    const plain = await hosts.start('plain');
    const worker = await hosts.start('unreached', { listen: [] });
    await worker.peers.join(plain.joinToken(), within());
    await until(() => worker.peers.roundTripMs(plain.id) !== undefined);
    assert.deepEqual(worker.addresses(), []);
    assert.throws(() => worker.joinToken(), /without an address/);
  });
});
