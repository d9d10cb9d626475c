// Relays: a host may relay connections of other hosts, and a host that cannot be dialled is reached through a relay.
import { setTimeout as delay } from 'node:timers/promises';
import { circuitRelayServer, RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2';
import type { Connection, Libp2p } from '@libp2p/interface';
import { multiaddr } from '@multiformats/multiaddr';
import type { Libp2pOptions } from 'libp2p';
import { RELAY } from '../limits.ts';

type Components = Parameters<NonNullable<Libp2pOptions['transports']>[number]>[0];

export function relayServer(): ReturnType<typeof circuitRelayServer> {
  return circuitRelayServer({
    maxInboundHopStreams: RELAY.maxReservations,
    maxOutboundStopStreams: RELAY.maxReservations,
    reservations: {
      maxReservations: RELAY.maxReservations,
      reservationTtl: RELAY.reservationMs,
      defaultDurationLimit: RELAY.connectionMs,
      defaultDataLimit: BigInt(RELAY.connectionBytes),
    },
  });
}

/** Listen addresses can only be changed from within libp2p. */
interface Listening {
  listen(address: string): Promise<void>;
}

export function listeningService(components: Components): Listening {
  return { listen: (address) => components.transportManager.listen([multiaddr(address)]) };
}

/**
 * Reserves a slot at connected relays, two at most. A relay that is full or does not answer is tried again as long as
 * it is connected; a lost reservation is replaced at another relay. libp2p itself would search for relays by walking
 * the DHT continuously until it finds one.
 */
export function reserveAtRelays(node: Libp2p<{ listening: Listening }>, signal: AbortSignal): void {
  const used = new Set<string>();
  const reserve = async (connection: Connection): Promise<void> => {
    const relay = connection.remotePeer.toString();
    for (let waitMs: number = RELAY.retryMs; connection.status === 'open' && !signal.aborted; waitMs = longer(waitMs)) {
      if (!used.has(relay) && used.size < RELAY.maxUsed) {
        used.add(relay);
        try {
          return await node.services.listening.listen(`${connection.remoteAddr}/p2p-circuit`);
        } catch {
          used.delete(relay);
        }
      }
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  node.addEventListener(
    'peer:identify',
    ({ detail: { protocols, connection } }) => {
      if (protocols.includes(RELAY_V2_HOP_CODEC) && connection.direct && connection.direction === 'outbound')
        void reserve(connection);
    },
    { signal },
  );
  node.addEventListener('peer:disconnect', ({ detail }) => used.delete(detail.toString()), { signal });
}

const longer = (waitMs: number): number => Math.min(2 * waitMs, RELAY.maxRetryMs);
