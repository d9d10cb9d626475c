// A libp2p stream as messages: each with its length before it (unsigned varint), bounded, in order, with back-pressure both ways.
import type { Stream } from '@libp2p/interface';

export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

/**
 * Messages between two peers. `send` resolves when there is room for the next one, and rejects with ChannelError once the
 * channel is over. `messages` gives each message once and in order, ends when the other side has closed, and throws ChannelError
 * when the connection breaks or what comes is no message; it may be read once. What nobody reads makes the sender wait.
 */
export interface Channel {
  /** Peer id of the other side, proved by the connection. */
  readonly peer: string;
  send(message: Uint8Array): Promise<void>;
  readonly messages: AsyncIterable<Uint8Array>;
  /** Ends it after what was sent. */
  close(): Promise<void>;
  /** Ends it at once, on both sides. */
  abort(reason: Error): void;
}

/** A longer message is no message: the channel is aborted before it is read. */
export const MOST_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Unread bytes from which on the sender has to wait, and those from which on it may go on. */
const PAUSE_BYTES = 1024 * 1024;
const RESUME_BYTES = 256 * 1024;

export function openChannel(stream: Stream, peer: string): Channel {
  const inbox = new Inbox(stream);
  return {
    peer,
    messages: inbox,
    async send(message) {
      try {
        const framed = prefixed(message);
        if (!stream.send(framed)) await stream.onDrain();
      } catch (cause) {
        throw new ChannelError('the channel is over', { cause });
      }
    },
    async close() {
      await stream.close().catch(() => {});
    },
    abort: (reason) => stream.abort(reason),
  };
}

class Inbox implements AsyncIterable<Uint8Array> {
  readonly #stream: Stream;
  readonly #ready: Uint8Array[] = [];
  #readyBytes = 0;
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #isOver = false;
  #error: Error | undefined;
  #isPaused = false;
  #wake: () => void = () => {};

  constructor(stream: Stream) {
    this.#stream = stream;
    stream.addEventListener('message', ({ data }) => this.#take(data.subarray()));
    stream.addEventListener('remoteCloseWrite', () => this.#end());
    stream.addEventListener('close', ({ error }) => this.#end(error));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const message = this.#ready.shift();
      if (message) {
        this.#readyBytes -= message.byteLength;
        if (this.#isPaused && this.#readyBytes < RESUME_BYTES) this.#resume();
        yield message;
      } else if (this.#isOver) {
        if (this.#error) throw new ChannelError('the channel broke', { cause: this.#error });
        return;
      } else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #take(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#parts.push(bytes);
    this.#partBytes += bytes.byteLength;
    for (;;) {
      const head = this.#head();
      if (!head) break;
      if (head.length > MOST_MESSAGE_BYTES) {
        const error = new ChannelError(`a message of ${head.length} bytes`);
        this.#end(error);
        this.#stream.abort(error);
        return;
      }
      if (this.#partBytes < head.at + head.length) break;
      const whole = this.#joined();
      this.#ready.push(whole.subarray(head.at, head.at + head.length));
      this.#readyBytes += head.length;
      const rest = whole.subarray(head.at + head.length);
      this.#parts = rest.byteLength > 0 ? [rest] : [];
      this.#partBytes = rest.byteLength;
    }
    if (!this.#isPaused && this.#readyBytes > PAUSE_BYTES) {
      this.#isPaused = true;
      this.#stream.pause();
    }
    this.#wake();
  }

  /** Length of the next message and where it begins; undefined while that is not known. */
  #head(): { readonly at: number; readonly length: number } | undefined {
    const first = this.#parts[0];
    if (!first) return undefined;
    const bytes = first.byteLength >= 5 ? first : this.#joined().subarray(0, 5);
    let length = 0;
    for (let at = 0; at < bytes.byteLength; at += 1) {
      const byte = bytes[at] as number;
      length += (byte & 0x7f) * 2 ** (7 * at);
      if (byte < 0x80) return { at: at + 1, length };
      // Five bytes and more to come: longer than any message.
      if (at === 4) return { at: 5, length: Number.POSITIVE_INFINITY };
    }
    return undefined;
  }

  #joined(): Uint8Array {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? new Uint8Array();
  }

  #resume(): void {
    this.#isPaused = false;
    if (this.#stream.readStatus === 'paused') this.#stream.resume();
  }

  #end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error ?? (this.#partBytes > 0 ? new ChannelError('half a message') : undefined);
    this.#wake();
  }
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
