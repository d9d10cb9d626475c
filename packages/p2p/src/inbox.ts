// What came over a channel and was not read yet: bytes become messages, a reader who lags makes the sender wait, and an end
// is clean only where the other side said so.
import type { Stream } from '@libp2p/interface';
import type { ByteBudget } from './byte-budget.ts';

export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

/** A longer message is no message: the channel is aborted before it is read. */
export const MOST_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Unread bytes from which on the sender has to wait, and those from which on it may go on. */
const PAUSE_BYTES = 1024 * 1024;
const RESUME_BYTES = 256 * 1024;

/** Ends without an error only after the last word (a length of zero): a stream that was just closed has lost its tail. */
export class Inbox implements AsyncIterable<Uint8Array> {
  readonly #stream: Stream;
  readonly #budget: ByteBudget;
  #ready: Uint8Array[] = [];
  #readyBytes = 0;
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #countedBytes = 0;
  #isOver = false;
  #error: Error | undefined;
  #isPaused = false;
  #wake: () => void = () => {};

  constructor(stream: Stream, budget: ByteBudget) {
    this.#stream = stream;
    this.#budget = budget;
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
        this.#readyBytes -= message.byteLength;
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
    this.#parts.push(bytes);
    this.#partBytes += bytes.byteLength;
    const problem = this.#split();
    if (problem ?? !this.#count()) {
      const error = new ChannelError(problem ?? 'more is unread than this host may hold');
      this.#lose(error);
      this.#stream.abort(error);
      return;
    }
    if (!this.#isPaused && !this.#isOver && this.#readyBytes > PAUSE_BYTES) {
      this.#isPaused = true;
      this.#stream.pause();
    }
    this.#wake();
  }

  /** Moves whole messages to the ready ones; gives why what came cannot be a message. */
  #split(): string | undefined {
    for (;;) {
      const head = this.#head();
      if (!head) return undefined;
      if (head.length === 0) {
        this.#end();
        return undefined;
      }
      if (head.length > MOST_MESSAGE_BYTES) return `a message of ${head.length} bytes`;
      if (this.#partBytes < head.at + head.length) return undefined;
      const whole = this.#joined();
      this.#ready.push(whole.subarray(head.at, head.at + head.length));
      this.#readyBytes += head.length;
      const rest = whole.subarray(head.at + head.length);
      this.#parts = rest.byteLength > 0 ? [rest] : [];
      this.#partBytes = rest.byteLength;
    }
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
    try {
      if (this.#stream.readStatus === 'paused') this.#stream.resume();
    } catch (error) {
      // What had come before the connection closed was handed over; only the word to the sender could not be sent.
      this.#lose(error as Error);
    }
  }

  /** Tells the budget what is held now; false where that is too much. What is held by an ended channel ends with it. */
  #count(): boolean {
    const heldBytes = this.#isOver ? 0 : this.#partBytes + this.#readyBytes;
    const changeBytes = heldBytes - this.#countedBytes;
    this.#countedBytes = heldBytes;
    return this.#budget.change(changeBytes) || changeBytes <= 0;
  }

  #lose(cause?: Error): void {
    if (this.#isOver) return;
    this.#error = cause ?? new ChannelError('it ended without a last word');
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#parts = [];
    this.#partBytes = 0;
    this.#count();
    this.#wake();
  }
}
