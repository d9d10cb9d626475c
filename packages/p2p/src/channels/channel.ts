// A libp2p stream as messages: each with its length before it (unsigned varint), bounded, in order, with back-pressure both
// ways. A length of zero is the last word: what follows it is nothing, and an end without it is a loss.
import type { Stream } from '@libp2p/interface';
import type { ByteBudget } from './byte-budget.ts';
import { ChannelError, Inbox } from './inbox.ts';
import { MAX_MESSAGE_BYTES } from './message-reader.ts';

/**
 * Messages between two peers, each of 1 byte to 4 MiB. `send` resolves when there is room for the next one, and rejects with
 * ChannelError once the channel is over. `messages` gives each message once and in order, ends when the other side has called
 * `close`, and throws ChannelError when it aborts, the connection closes or what comes is no message; it may be read once.
 * What nobody reads makes the sender wait.
 */
export interface Channel {
  /** Peer id of the other side, proved by the connection. */
  readonly peer: string;
  send(message: Uint8Array): Promise<void>;
  readonly messages: AsyncIterable<Uint8Array>;
  /** Ends it after what was sent. The other side has 30 s to end its own part. */
  close(): Promise<void>;
  /** Ends it at once, on both sides. */
  abort(reason: Error): void;
}

/** After it a peer that does not take the rest, or does not close its own side, is not waited for. */
const CLOSE_TIMEOUT_MS = 30_000;
const LAST_WORD = Uint8Array.of(0);

export interface ChannelBounds {
  /** Bytes that came and were not read, and bytes that were sent and not taken, of all channels. */
  readonly unread: ByteBudget;
  readonly unsent: ByteBudget;
  readonly messageTimeoutMs: number;
}

export function openChannel(stream: Stream, peer: string, bounds: ChannelBounds): Channel {
  const abort = (reason: Error) => {
    stream.abort(reason);
    inbox.drop(reason);
  };
  const onUnread = bounds.unread.hold(peer, () => abort(new ChannelError('more is unread than this host may hold')));
  const onUnsent = bounds.unsent.hold(peer, () => abort(new ChannelError('more is unsent than this host may hold')));
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
        throw new ChannelError('the channel is over', { cause });
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
        // It was over before.
      }
      if (stream.status !== 'open' && stream.status !== 'closing') clearTimeout(timer);
    },
    abort,
  };
}

/** The stream's own `onDrain` keeps its first promise for good, and would wait only once. */
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
    // Of an end that has been nothing would tell.
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
