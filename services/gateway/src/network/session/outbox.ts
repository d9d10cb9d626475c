// The send queue of a channel: sequential, with a limit on waiting bytes.
import type { Channel } from '@strata/p2p';

/** More than the largest request; a worker with this much unread is not reading. */
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

  /** Whether sending has failed; all further messages are dropped. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Returns false, and takes nothing, if too much is waiting. Messages for a closed channel are dropped. */
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
