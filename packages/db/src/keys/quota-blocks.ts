// Large quotas shared by several processes: each process leases a block of the day's quota with one statement and spends it in
// memory. A block is counted when leased, so all processes together never exceed the limit; a killed process loses its block.
import type { Quota, QuotaTable } from './quota.ts';
import type { QuotaUse } from './quota-batches.ts';

/** Up to this limit each request is counted by a statement, since a lease would withhold quota from other processes. */
export const LARGEST_COUNTED_SINGLY = 1_000;
/** Maximum of a key's daily quota that one process holds, and loses when it is killed. */
const MAX_BLOCK = 200;
/** A block is at most 1/32 of the remaining quota: near the limit blocks shrink to single requests. */
const SHARE = 32;
/** Maximum age of the known count of all processes. */
const COUNT_MAX_AGE_MS = 500;
/** An unused block is returned after this time. */
const IDLE_MS = 5_000;
const RETURN_INTERVAL_MS = 1_000;

interface Block {
  /** The day of its requests; later than the clock's if the clock was set back. */
  day: string;
  /** Leased and not spent. */
  left: number;
  /** The day's count when it was last read, including this block; and the monotonic time of the read. */
  total: number;
  totalReadAt: number;
  spentAt: number;
  /** Size of the last lease; the next one is twice as large. */
  size: number;
  /** Requests that wait for a lease. */
  waiting: number;
  leasing: Promise<void> | undefined;
}

export class QuotaBlocks implements Quota, AsyncDisposable {
  readonly #table: QuotaTable;
  readonly #now: () => number;
  readonly #blocks = new Map<string, Block>();
  readonly #returnTimer: NodeJS.Timeout;
  #returning: Promise<void> = Promise.resolve();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(table: QuotaTable, now: () => number = () => performance.now()) {
    this.#table = table;
    this.#now = now;
    this.#returnTimer = setInterval(() => {
      this.#returning = this.#returning.then(() => this.returnIdle());
    }, RETURN_INTERVAL_MS);
    this.#returnTimer.unref();
  }

  async take(keyId: string, day: string, limit: number, requests = 1): Promise<QuotaUse> {
    if (limit <= LARGEST_COUNTED_SINGLY || requests > 1) return this.#table.take(keyId, day, limit, requests);
    let block = this.#blocks.get(keyId);
    // The remainder of an earlier day is void.
    if (!block || block.day < day) {
      block = { day, left: 0, total: 0, totalReadAt: 0, spentAt: 0, size: 0, waiting: 0, leasing: undefined };
      this.#blocks.set(keyId, block);
    }
    // `returnIdle` skips blocks with waiting requests.
    block.waiting += 1;
    try {
      if (block.left > 0 && this.#now() - block.totalReadAt >= COUNT_MAX_AGE_MS)
        await this.#share(block, () => this.#readTotal(keyId, block));
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

  /** Returns idle blocks. If it fails, their remainder is lost. */
  async returnIdle(idleMs = IDLE_MS): Promise<void> {
    for (const [keyId, block] of this.#blocks) {
      if (block.waiting > 0 || block.leasing || this.#now() - block.spentAt < idleMs) continue;
      this.#blocks.delete(keyId);
      const { day, left } = block;
      // Set first, so that the returned quota cannot be spent as well.
      block.left = 0;
      if (left > 0) await this.#table.refund(keyId, day, left).catch(() => {});
    }
  }

  /** Returns all unspent quota. `take` must not be called afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#returnTimer);
    await this.#returning;
    await this.returnIdle(0);
  }

  /** Runs one statement of a block at a time; concurrent callers await the same one. */
  async #share(block: Block, run: () => Promise<void>): Promise<void> {
    block.leasing ??= run().finally(() => {
      block.leasing = undefined;
    });
    await block.leasing;
  }

  async #readTotal(keyId: string, block: Block): Promise<void> {
    try {
      block.total = await this.#table.used(keyId, block.day);
    } catch {
      // Leased quota can be spent while the database is unavailable.
    }
    block.totalReadAt = this.#now();
  }

  /** Returns whether a lease was granted. */
  async #lease(keyId: string, block: Block, limit: number): Promise<boolean> {
    const left = Math.floor((limit - block.total) / SHARE);
    const size = Math.min(Math.max(block.size * 2, block.waiting), left, MAX_BLOCK);
    for (const count of size > 1 ? [size, 1] : [1]) {
      const leased = await this.#table.lease(keyId, block.day, { limit, count });
      if (leased === undefined) continue;
      block.day = leased.day;
      block.left += count;
      block.size = count;
      block.total = leased.used;
      block.totalReadAt = this.#now();
      return true;
    }
    return false;
  }
}
