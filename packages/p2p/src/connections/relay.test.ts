import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2';
import { until } from '../../../../tests/support/until.ts';
import { reserveAtRelays } from './relay.ts';

it('a host that cannot be dialled asks a relay again that refused it, for as long as it is connected', async () => {
  const asked: string[] = [];
  const listen = async (address: string) => {
    asked.push(address);
    if (asked.length === 1) throw new Error('no slot is free');
  };
  const node = Object.assign(new EventTarget(), { services: { listening: { listen } } });
  const stopping = new AbortController();
  reserveAtRelays(node as never, stopping.signal);
  const meet = (relay: string, status: string) => {
    const connection = { remotePeer: relay, remoteAddr: `/${relay}`, status, direct: true, direction: 'outbound' };
    node.dispatchEvent(new CustomEvent('peer:identify', { detail: { protocols: [RELAY_V2_HOP_CODEC], connection } }));
  };
  meet('closed', 'closed');
  meet('a', 'open');
  meet('a', 'open');
  await until(() => asked.length === 2);
  meet('b', 'open');
  meet('c', 'open');
  assert.deepEqual(asked, ['/a/p2p-circuit', '/a/p2p-circuit', '/b/p2p-circuit']);
  stopping.abort();
});
