// The channels of a host: opened over the existing connection, counted by peer, and aborted when the host stops.
import type { Connection, Libp2p, Stream } from '@libp2p/interface';
import { peerIdFromString } from '@libp2p/peer-id';
import { STREAMS } from '../limits.ts';
import type { Channels } from '../peer-node.ts';
import { ByteBudget } from './byte-budget.ts';
import { openChannel } from './channel.ts';
import { ChannelError } from './inbox.ts';

interface HostChannels extends Channels {
  /** Whether there is a channel over this connection. */
  isOn(connection: Connection): boolean;
  /** Aborts all: closing a connection would first wait for unread data. */
  abortAll(): void;
}

export function createChannels(node: Libp2p): HostChannels {
  const bounds = {
    unread: new ByteBudget({ maxBytes: STREAMS.maxInboxBytes, maxBytesPerPeer: STREAMS.maxInboxBytesPerPeer }),
    unsent: new ByteBudget({ maxBytes: STREAMS.maxOutboxBytes, maxBytesPerPeer: STREAMS.maxUnsentBytes }),
    messageTimeoutMs: STREAMS.messageTimeoutMs,
  };
  const streams = new Set<Stream>();
  const inboundByPeer = new Map<string, number>();

  const track = (stream: Stream) => {
    if (stream.status === 'open') streams.add(stream);
    stream.addEventListener('close', () => streams.delete(stream));
  };

  return {
    async open(peer, protocol, { signal }) {
      try {
        const stream = await node.dialProtocol(peerIdFromString(peer), protocol, {
          signal,
          runOnLimitedConnection: true,
        });
        track(stream);
        return openChannel(stream, peer, bounds);
      } catch (cause) {
        throw new ChannelError(`no channel to ${peer}`, { cause });
      }
    },
    async handle(protocol, listener) {
      const handled = node.handle(
        protocol,
        (stream, connection) => {
          // It ended before it was registered: no event would report that.
          if (stream.status !== 'open') return;
          const peer = connection.remotePeer.toString();
          // libp2p limits the streams of a connection; a peer may have several connections.
          const count = (inboundByPeer.get(peer) ?? 0) + 1;
          if (count > STREAMS.maxChannelsPerPeer) {
            stream.abort(new ChannelError('too many channels'));
            return;
          }
          inboundByPeer.set(peer, count);
          stream.addEventListener('close', () => {
            const rest = (inboundByPeer.get(peer) ?? 0) - 1;
            if (rest > 0) inboundByPeer.set(peer, rest);
            else inboundByPeer.delete(peer);
          });
          track(stream);
          listener(openChannel(stream, peer, bounds));
        },
        {
          maxInboundStreams: STREAMS.maxChannelsPerPeer,
          maxOutboundStreams: STREAMS.maxChannelsPerPeer,
          runOnLimitedConnection: true,
        },
      );
      await handled.catch((cause: unknown) => {
        throw new ChannelError(`${protocol} already has a listener`, { cause });
      });
    },
    isOn: (connection) => connection.streams.some((stream) => streams.has(stream)),
    abortAll() {
      for (const stream of streams) stream.abort(new ChannelError('the host stopped'));
    },
  };
}
