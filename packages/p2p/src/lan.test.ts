import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { describe, it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { useHosts } from './test/hosts.ts';

const GROUP = '224.0.0.251';
const ANYWHERE = { listen: ['/ip4/0.0.0.0/tcp/0'], isMdnsOn: true };

/** Whether what is sent to a group comes back to this machine: containers often have no multicast. */
async function hasMulticast(): Promise<boolean> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  setTimeout(() => resolve(false), 1_000).unref();
  socket.on('error', () => resolve(false));
  socket.on('message', () => resolve(true));
  socket.bind(0, () => {
    try {
      socket.addMembership(GROUP);
      socket.send('strata', socket.address().port, GROUP);
    } catch {
      resolve(false);
    }
  });
  return promise.finally(() => socket.close());
}

const isPossible = await hasMulticast();

describe('hosts on one LAN', () => {
  const hosts = useHosts();

  it('meet without an address to join', { skip: isPossible ? false : 'no multicast here' }, async () => {
    // A network of its own, so that nobody else on this LAN is met.
    const networkKey = randomBytes(32);
    const a = await hosts.start('a', { ...ANYWHERE, networkKey });
    const b = await hosts.start('b', { ...ANYWHERE, networkKey });
    const other = await hosts.start('c', { ...ANYWHERE, networkKey: randomBytes(32) });
    await until(() => a.peers.connected().some(({ id }) => id === b.id), { limitMs: 12_000 });
    assert.deepEqual(other.peers.connected(), []);
  });
});
