// What came over a channel and was not read yet: bytes become messages, a reader who lags makes the sender wait, and an end
// is clean only where the other side said so.
import type { Stream } from '@libp2p/interface';
import { MessageReader } from './message-reader.ts';

export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

/** Unread bytes from which on the sender has to wait, and those from which on it may go on. */
const PAUSE_BYTES = 1024 * 1024;
const RESUME_BYTES = 256 * 1024;
/** What a message costs beside its bytes, so that a million of one byte are not taken for one MiB. */
const MESSAGE_COST_BYTES = 128;

export interface InboxOptions {
  /** Hears what is held, in bytes, whenever it changes. */
  readonly onHeld: (bytes: number) => void;
  /** A message that was begun must be whole within it, as far as it may come: the time of a slow reader is not the sender's. */
  readonly messageTimeoutMs: number;
}

/** Ends without an error only after the last word (a length of zero): a stream that was just closed has lost its tail. */
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
    // `end` comes when the last byte was handed over; of an aborted stream `close` tells why.
    stream.addEventListener('end', () => {
      if (stream.status !== 'aborted' && stream.status !== 'reset') this.#lose();
    });
    stream.addEventListener('close', ({ error }) => {
      if (error || stream.readBufferLength === 0) this.#lose(error);
    });
    // What had happened before is not told again; bytes that came before are handed over first.
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

  /** Forgets what was not read. */
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
    this.#timer = setTimeout(() => this.#break('a message was begun and did not end'), this.#messageTimeoutMs).unref();
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
      // What had come before the connection closed was handed over; only the word to the sender could not be sent.
      this.#lose(error as Error);
    }
    this.#awaitRest();
  }

  /** What is held by an ended channel ends with it: nobody may be there to read it. */
  #count(): void {
    this.#onHeld(this.#isOver ? 0 : this.#readyBytes + this.#reader.heldBytes);
  }

  #lose(cause?: Error): void {
    if (this.#isOver) return;
    this.#error = cause ?? new ChannelError('it ended without a last word');
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#stopWaiting();
    this.#count();
    this.#wake();
  }
}
