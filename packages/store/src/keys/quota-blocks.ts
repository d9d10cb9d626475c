// Large quotas shared by several processes: each leases a block of the day by one statement and spends it in memory. A block counts as
// used from when it is leased, so that all of them together never exceed the limit; what a killed process held counts as spent.
import type { Quota, QuotaTable } from './quota.ts';
import type { QuotaUse } from './quota-batches.ts';

/** Up to this limit every request is a statement: nothing of it may lie with a process that does not need it. */
export const LARGEST_COUNTED_SINGLY = 1_000;
/** The most that one process holds of a key's day: what is lost with it when it is killed. */
const LARGEST_BLOCK = 200;
/** A block is this share of what is left at most: towards the end blocks shrink to single requests. */
const SHARE = 32;
/** What is told of other processes' requests is no older than this. */
const KNOWN_MS = 500;
/** A block that nobody has spent of for so long goes back: the key asks elsewhere. */
const IDLE_MS = 5_000;
const LOOK_MS = 1_000;

interface Block {
  /** That its requests are of: later than the clock's where that was set back. */
  day: string;
  /** Leased and not spent. */
  left: number;
  /** What the day's count was when it was last seen, this block included; and when, by the monotonic clock. */
  total: number;
  seenAt: number;
  spentAt: number;
  /** Of the last lease: the next one is twice as large, for who asks often. */
  size: number;
  /** Requests that wait for a lease. */
  waiting: number;
  leasing: Promise<void> | undefined;
}

export class QuotaBlocks implements Quota, AsyncDisposable {
  readonly #table: QuotaTable;
  readonly #now: () => number;
  readonly #blocks = new Map<string, Block>();
  readonly #looking: NodeJS.Timeout;
  #returning: Promise<void> = Promise.resolve();

  /** `now` in milliseconds, of a clock that never goes back. */
  constructor(table: QuotaTable, now: () => number = () => performance.now()) {
    this.#table = table;
    this.#now = now;
    this.#looking = setInterval(() => {
      this.#returning = this.#returning.then(() => this.returnIdle());
    }, LOOK_MS);
    this.#looking.unref();
  }

  async take(keyId: string, day: string, limit: number): Promise<QuotaUse> {
    if (limit <= LARGEST_COUNTED_SINGLY) return this.#table.take(keyId, day, limit);
    let block = this.#blocks.get(keyId);
    // What was left of an earlier day means nothing any more.
    if (!block || block.day < day) {
      block = { day, left: 0, total: 0, seenAt: 0, spentAt: 0, size: 0, waiting: 0, leasing: undefined };
      this.#blocks.set(keyId, block);
    }
    // From here on nobody gives it back.
    block.waiting += 1;
    try {
      if (block.left > 0 && this.#now() - block.seenAt >= KNOWN_MS)
        await this.#share(block, () => this.#lookAt(keyId, block));
      while (block.left <= 0) {
        let isSpent = false;
        await this.#share(block, async () => {
          isSpent = !(await this.#lease(keyId, block, limit));
        });
        if (isSpent) return { isAllowed: false, used: limit };
      }
      block.left -= 1;
    } finally {
      block.waiting -= 1;
    }
    block.spentAt = this.#now();
    return { isAllowed: true, used: block.total - block.left };
  }

  used(keyId: string, day: string): Promise<number> {
    return this.#table.used(keyId, day);
  }

  /** Gives back blocks that lie idle. A failure is a loss of what they held, no more. */
  async returnIdle(idleMs = IDLE_MS): Promise<void> {
    for (const [keyId, block] of this.#blocks) {
      if (block.waiting > 0 || block.leasing || this.#now() - block.spentAt < idleMs) continue;
      this.#blocks.delete(keyId);
      const { day, left } = block;
      // Nobody spends of it from here on, so that nothing is given back and spent as well.
      block.left = 0;
      if (left > 0) await this.#table.giveBack(keyId, day, left).catch(() => {});
    }
  }

  /** Gives back all that was not spent. Nothing may be taken any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    await this.#returning;
    await this.returnIdle(0);
  }

  /** One statement of a block at a time; whoever comes meanwhile waits for the same. */
  async #share(block: Block, ask: () => Promise<void>): Promise<void> {
    block.leasing ??= ask().finally(() => {
      block.leasing = undefined;
    });
    await block.leasing;
  }

  async #lookAt(keyId: string, block: Block): Promise<void> {
    try {
      block.total = await this.#table.used(keyId, block.day);
    } catch {
      // What was leased is ours to spend, also while the database is away.
    }
    block.seenAt = this.#now();
  }

  /** Whether anything was left to lease. */
  async #lease(keyId: string, block: Block, limit: number): Promise<boolean> {
    const left = Math.floor((limit - block.total) / SHARE);
    const wished = Math.min(Math.max(block.size * 2, block.waiting), left, LARGEST_BLOCK);
    for (const count of wished > 1 ? [wished, 1] : [1]) {
      const leased = await this.#table.lease(keyId, block.day, { limit, count });
      if (leased === undefined) continue;
      block.day = leased.day;
      block.left += count;
      block.size = count;
      block.total = leased.used;
      block.seenAt = this.#now();
      return true;
    }
    return false;
  }
}
