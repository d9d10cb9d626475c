// What is to be sent on a channel: in order, one after the other, and no more of it waiting than a bound.
import type { Channel } from '@strata/p2p';

/** More than the largest request; a worker that does not read this much does not read. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

export class Outbox {
  readonly #channel: Channel;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isSending = false;
  #hasFailed = false;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Whether something could not be sent: nothing can be any more. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** False when too much waits already; then nothing was taken. What cannot be sent because the channel is over is dropped. */
  push(message: Uint8Array): boolean {
    if (this.#waitingBytes + message.byteLength > MAX_WAITING_BYTES) return false;
    this.#waiting.push(message);
    this.#waitingBytes += message.byteLength;
    if (!this.#isSending) void this.#send();
    return true;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        await this.#channel.send(next);
        this.#waitingBytes -= next.byteLength;
      }
    } catch {
      this.#hasFailed = true;
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
    this.#isSending = false;
  }
}
