// Frames on their way to one gateway: in order, with word of how long the oldest of them has been waiting to be taken.
import { encodeFrame, type Frame } from '@strata/inference';
import type { Channel } from '@strata/p2p';

export class PendingSends {
  readonly #channel: Channel;
  readonly #sinceMs = new Set<{ readonly atMs: number }>();

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Resolves when there is room for the next one; rejects with ChannelError. */
  send = async (frame: Frame): Promise<void> => {
    const pending = { atMs: performance.now() };
    this.#sinceMs.add(pending);
    try {
      await this.#channel.send(encodeFrame(frame));
    } finally {
      this.#sinceMs.delete(pending);
    }
  };

  /** Milliseconds for which the oldest has been waiting; 0: nothing waits. */
  get waitingMs(): number {
    // Sets keep the order in which things came.
    for (const { atMs } of this.#sinceMs) return performance.now() - atMs;
    return 0;
  }
}
