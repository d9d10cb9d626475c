// The unread messages of a channel: parses bytes into messages, makes the sender wait for a slow reader, and
// distinguishes a clean end from an interrupted one.
import type { Stream } from '@libp2p/interface';
import { MessageReader } from './message-reader.ts';

export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

/** Unread bytes at which the sender is paused, and at which it resumes. */
const PAUSE_BYTES = 1024 * 1024;
const RESUME_BYTES = 256 * 1024;
/** Overhead of a message, so that a million messages of one byte do not count as one MiB. */
const MESSAGE_COST_BYTES = 128;

interface InboxOptions {
  /** Called with the bytes held whenever they change. */
  readonly onHeld: (bytes: number) => void;
  /** Time limit from the first to the last byte of a message; the time of a slow reader does not count. */
  readonly messageTimeoutMs: number;
}

/** Ends without an error only after the final zero length: a stream that was merely closed is incomplete. */
export class Inbox implements AsyncIterable<Uint8Array> {
  readonly #stream: Stream;
  readonly #onHeld: (bytes: number) => void;
  readonly #messageTimeoutMs: number;
  readonly #reader = new MessageReader();
  #ready: Uint8Array[] = [];
  #readyBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #error: Error | undefined;
  #isPaused = false;
  #wake: () => void = () => {};

  constructor(stream: Stream, { onHeld, messageTimeoutMs }: InboxOptions) {
    this.#stream = stream;
    this.#onHeld = onHeld;
    this.#messageTimeoutMs = messageTimeoutMs;
    stream.addEventListener('message', ({ data }) => this.#take(data.subarray()));
    // `end` follows the last byte; for an aborted stream `close` carries the reason.
    stream.addEventListener('end', () => {
      if (stream.status !== 'aborted' && stream.status !== 'reset') this.#lose();
    });
    stream.addEventListener('close', ({ error }) => {
      if (error || stream.readBufferLength === 0) this.#lose(error);
    });
    // Earlier events are not repeated; bytes received earlier are delivered first.
    if (stream.readableEnded || stream.status !== 'open') queueMicrotask(() => this.#lose());
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const message = this.#ready.shift();
      if (message) {
        this.#readyBytes -= message.byteLength + MESSAGE_COST_BYTES;
        this.#count();
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

  /** Discards unread messages. */
  drop(reason: Error): void {
    this.#ready = [];
    this.#readyBytes = 0;
    this.#error = reason;
    this.#end();
  }

  #take(bytes: Uint8Array): void {
    if (this.#isOver) return;
    try {
      for (const message of this.#reader.read(bytes)) {
        this.#stopWaiting();
        if (message.byteLength === 0) {
          this.#end();
          return;
        }
        this.#ready.push(message);
        this.#readyBytes += message.byteLength + MESSAGE_COST_BYTES;
      }
    } catch (error) {
      this.#break((error as RangeError).message);
      return;
    }
    this.#count();
    if (!this.#isPaused && !this.#isOver && this.#readyBytes > PAUSE_BYTES) {
      this.#isPaused = true;
      this.#stopWaiting();
      this.#stream.pause();
    }
    this.#awaitRest();
    this.#wake();
  }

  #awaitRest(): void {
    if (this.#timer || this.#isOver || this.#isPaused || this.#reader.heldBytes === 0) return;
    this.#timer = setTimeout(() => this.#break('a message was not completed in time'), this.#messageTimeoutMs).unref();
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #break(problem: string): void {
    const error = new ChannelError(problem);
    this.#lose(error);
    this.#stream.abort(error);
  }

  #resume(): void {
    this.#isPaused = false;
    try {
      if (this.#stream.readStatus === 'paused') this.#stream.resume();
    } catch (error) {
      // All data received before the close was delivered; only the resume signal could not be sent.
      this.#lose(error as Error);
    }
    this.#awaitRest();
  }

  /** An ended channel holds nothing: it may have no reader. */
  #count(): void {
    this.#onHeld(this.#isOver ? 0 : this.#readyBytes + this.#reader.heldBytes);
  }

  #lose(cause?: Error): void {
    if (this.#isOver) return;
    this.#error = cause ?? new ChannelError('the stream ended without its final message');
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#stopWaiting();
    this.#count();
    this.#wake();
  }
}
