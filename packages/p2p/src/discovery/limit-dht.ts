// Limits the DHT queries of a peer: libp2p answers without a limit, which would block everything else.
import type { Connection, PeerId } from '@libp2p/interface';
import type { KadDHT } from '@libp2p/kad-dht';
import { RateLimiter } from '@strata/limits';
import { remoteHost } from '../connections/remote-host.ts';
import { RECORDS } from '../limits.ts';

interface DhtMessage {
  readonly closer: readonly unknown[];
  readonly providers: readonly unknown[];
}

/** The part of the DHT that answers queries; its type is private, and there is no option for this. */
interface Answering {
  readonly rpc: { handleMessage(peer: PeerId, message: DhtMessage): Promise<unknown> };
}

class DhtLimitError extends Error {
  override readonly name = 'DhtLimitError';
}

const MAX_REMEMBERED = 10_000;

/** Messages that are too large or too frequent are not answered: libp2p aborts their stream. */
export function limitDht(dht: KadDHT, connectionsTo: (peer: PeerId) => readonly Connection[]): KadDHT {
  const peers = new RateLimiter({ ...RECORDS.messages, now: Date.now, maxNames: MAX_REMEMBERED });
  const hosts = new RateLimiter({ ...RECORDS.hostMessages, now: Date.now, maxNames: MAX_REMEMBERED });
  const { rpc } = dht as unknown as Answering;
  const answer = rpc.handleMessage.bind(rpc);
  rpc.handleMessage = async (peer, message) => {
    if (message.closer.length + message.providers.length > RECORDS.maxPeersPerMessage)
      throw new DhtLimitError('a message names too many peers');
    const [connection] = connectionsTo(peer);
    const host = connection ? remoteHost(connection.remoteAddr) : '';
    if (peers.take(peer.toString()) > 0 || hosts.take(host) > 0) throw new DhtLimitError('messages come too often');
    return answer(peer, message);
  };
  return dht;
}
