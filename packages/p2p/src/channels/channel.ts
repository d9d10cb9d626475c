// Messages over a libp2p stream: each prefixed with its length (unsigned varint), bounded, in order, with back-pressure
// in both directions. A length of zero ends the channel: data after it is invalid, and a stream that ends without it is
// incomplete.
import type { Stream } from '@libp2p/interface';
import type { ByteBudget } from './byte-budget.ts';
import { ChannelError, Inbox } from './inbox.ts';
import { MAX_MESSAGE_BYTES } from './message-reader.ts';

/**
 * Messages between two peers, each of 1 byte to 4 MiB. `send` resolves when there is capacity for the next one, and
 * rejects
 * with ChannelError after the channel ended. `messages` yields each message once and in order, ends when the other
 * side has called `close`, and throws ChannelError when the other side aborts, the connection closes or the data is
 * invalid; it can be read once. Unread messages make the sender wait.
 */
export interface Channel {
  /** Peer id of the other side, authenticated by the connection. */
  readonly peer: string;
  send(message: Uint8Array): Promise<void>;
  readonly messages: AsyncIterable<Uint8Array>;
  /** Ends the channel after the sent messages. The other side has 30 s to end its own direction. */
  close(): Promise<void>;
  /** Ends the channel at once, on both sides. */
  abort(reason: Error): void;
}

/** How long to wait for a peer that does not read the remainder, or does not close its own direction. */
const CLOSE_TIMEOUT_MS = 30_000;
const LAST_WORD = Uint8Array.of(0);

interface ChannelBounds {
  /** Bytes received but not read, and bytes sent but not acknowledged, of all channels. */
  readonly unread: ByteBudget;
  readonly unsent: ByteBudget;
  readonly messageTimeoutMs: number;
}

export function openChannel(stream: Stream, peer: string, bounds: ChannelBounds): Channel {
  const abort = (reason: Error) => {
    stream.abort(reason);
    inbox.drop(reason);
  };
  const onUnread = bounds.unread.hold(peer, () =>
    abort(new ChannelError('the unread bytes exceed the limit of this host')),
  );
  const onUnsent = bounds.unsent.hold(peer, () =>
    abort(new ChannelError('the unsent bytes exceed the limit of this host')),
  );
  const inbox = new Inbox(stream, { onHeld: onUnread, messageTimeoutMs: bounds.messageTimeoutMs });
  stream.addEventListener('close', () => onUnsent(0));
  let isClosing = false;
  return {
    peer,
    messages: inbox,
    async send(message) {
      const { byteLength } = message;
      if (byteLength === 0 || byteLength > MAX_MESSAGE_BYTES)
        throw new ChannelError(`a message of ${byteLength} bytes cannot be sent`);
      try {
        stream.send(prefixed(message));
        onUnsent(stream.writeBufferLength);
        while (stream.writableNeedsDrain) {
          await drained(stream);
          onUnsent(stream.writeBufferLength);
        }
      } catch (cause) {
        throw new ChannelError('the channel is closed', { cause });
      }
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      const timer = setTimeout(() => stream.abort(new ChannelError('the other side did not close')), CLOSE_TIMEOUT_MS);
      timer.unref();
      stream.addEventListener('close', () => clearTimeout(timer));
      try {
        stream.send(LAST_WORD);
        await stream.close();
      } catch {
        // It had already ended.
      }
      if (stream.status !== 'open' && stream.status !== 'closing') clearTimeout(timer);
    },
    abort,
  };
}

/** The stream's own `onDrain` keeps its first promise, and would wait only once. */
function drained(stream: Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      stream.removeEventListener('drain', onDrain);
      stream.removeEventListener('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onDrain = () => settle();
    const onClose = ({ error }: { error?: Error }) => settle(error ?? new ChannelError('the connection closed'));
    stream.addEventListener('drain', onDrain);
    stream.addEventListener('close', onClose);
    // An end in the past emits no event.
    if (stream.status !== 'open' && stream.status !== 'closing') onClose({});
  });
}

function prefixed(message: Uint8Array): Uint8Array {
  const prefix: number[] = [];
  let rest = message.byteLength;
  for (; rest >= 0x80; rest >>>= 7) prefix.push((rest & 0x7f) | 0x80);
  prefix.push(rest);
  const framed = new Uint8Array(prefix.length + message.byteLength);
  framed.set(prefix);
  framed.set(message, prefix.length);
  return framed;
}
