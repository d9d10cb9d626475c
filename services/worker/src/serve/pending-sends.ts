// Frames being sent to one gateway: in order, with the waiting time of the oldest.
import { encodeFrame, type Frame } from '@strata/inference';
import type { Channel } from '@strata/p2p';

export class PendingSends {
  readonly #channel: Channel;
  readonly #sinceMs = new Set<{ readonly atMs: number }>();

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Resolves when the next frame can be sent; rejects with ChannelError. */
  send = async (frame: Frame): Promise<void> => {
    const pending = { atMs: performance.now() };
    this.#sinceMs.add(pending);
    try {
      await this.#channel.send(encodeFrame(frame));
    } finally {
      this.#sinceMs.delete(pending);
    }
  };

  /** Waiting time of the oldest frame in milliseconds; 0 if none waits. */
  get waitingMs(): number {
    // Sets keep insertion order.
    for (const { atMs } of this.#sinceMs) return performance.now() - atMs;
    return 0;
  }
}
