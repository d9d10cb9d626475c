// The tokens of a key's day, shared by all gateways of the database: this gateway reserves them there in blocks, and
// spends a block in memory. Tokens that are reserved and not used return to the block, and from an idle block to the
// database.
import type { GatewayStore } from '../store/index.ts';

/** What an answer may use. */
export interface PlannedTokens {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

export interface TokenQuotaDeps {
  readonly reservations: Pick<GatewayStore['tokens'], 'reserve' | 'add'>;
  readonly gateway: () => number;
  /** Returns unused blocks every second: of a limit that refills soon. */
  readonly isReturnedSoon?: boolean;
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

export interface QuotaOfDay {
  readonly keyId: string;
  /** UTC day. A key stays in the latest day it was used on, so that setting the clock back restores no quota. */
  readonly day: string;
  readonly limit: number;
}

/** A block is at most 1/32 of what is left: near the limit each request reserves its own tokens. */
const SHARE = 32;
/** The rest of an unused block is returned after this time. */
const IDLE_MS = 5_000;
const RETURN_INTERVAL_MS = 1_000;

interface Block {
  readonly keyId: string;
  readonly day: string;
  /** The gateway that the reservation belongs to. */
  gateway: number;
  /** Reserved in the database and for no answer. */
  left: number;
  /** Usage and reservations of all gateways when last read. */
  total: number;
  /** Answers in progress, and their tokens. */
  answers: number;
  taken: number;
  spentAtMs: number;
  /** The statement in flight; one at a time. */
  writing: Promise<void> | undefined;
}

/** Tokens taken from a block for one answer. */
export interface TakenTokens {
  /** Of the limit, with all reservations. */
  readonly used: number;
  /**
   * Replaces them by those that were used, which count on the current day. Called once. Returns a function that releases
   * those too, for an answer that is not recorded.
   */
  readonly settle: (usedTokens: number, today: string) => () => void;
}

export class TokenQuota implements Disposable {
  readonly #deps: TokenQuotaDeps;
  readonly #nowMs: () => number;
  readonly #blocks = new Map<string, Block>();
  readonly #returning: NodeJS.Timeout;

  constructor(deps: TokenQuotaDeps) {
    this.#deps = deps;
    this.#nowMs = deps.nowMs ?? (() => performance.now());
    this.#returning = setInterval(() => this.#returnIdle(), RETURN_INTERVAL_MS);
    this.#returning.unref();
  }

  /** Takes tokens unless fewer are left; then only the used part of the limit is known. Rejects with StoreError. */
  async take(of: QuotaOfDay, tokens: number): Promise<TakenTokens | Pick<TakenTokens, 'used'>> {
    const block = this.#block(of.keyId, of.day);
    // Keeps the block while it waits.
    block.answers += 1;
    // A limit that was lowered may be below what the block has reserved: then the database decides.
    if (block.left > 0 && block.total - block.left + tokens > of.limit) this.#move(block, -block.left);
    try {
      while (block.left < tokens) {
        if (block.writing) await block.writing;
        else if (!(await this.#reserve(block, { tokens, limit: of.limit })) && block.left < tokens) {
          block.answers -= 1;
          return { used: block.total - block.left };
        }
      }
    } catch (error) {
      block.answers -= 1;
      throw error;
    }
    return this.#take(block, tokens);
  }

  /** Takes tokens whatever is left. */
  takeAnyway(of: Omit<QuotaOfDay, 'limit'>, tokens: number): TakenTokens {
    const block = this.#block(of.keyId, of.day);
    block.answers += 1;
    if (block.left < tokens) this.#move(block, tokens - block.left);
    return this.#take(block, tokens);
  }

  #take(block: Block, tokens: number): TakenTokens {
    block.left -= tokens;
    block.taken += tokens;
    block.spentAtMs = this.#nowMs();
    return {
      used: block.total - block.left,
      settle: (usedTokens, today) => {
        const current = this.#block(block.keyId, today);
        block.answers -= 1;
        block.taken -= tokens;
        if (current === block) block.left += tokens;
        current.left -= usedTokens;
        current.spentAtMs = this.#nowMs();
        if (current.left < 0) this.#move(current, -current.left);
        const { gateway } = current;
        return () => {
          if (current.gateway === gateway) current.left += usedTokens;
        };
      },
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#returning);
  }

  /** The block of a key on this or a later day. */
  #block(keyId: string, day: string): Block {
    const known = this.#blocks.get(keyId);
    if (known && known.day >= day) return this.#current(known);
    const block = {
      ...{ keyId, day, gateway: this.#deps.gateway(), left: 0, total: 0, answers: 0, taken: 0 },
      ...{ spentAtMs: 0, writing: undefined },
    };
    this.#blocks.set(keyId, block);
    return block;
  }

  /** After this gateway got another id its reservations have ended: reserves the tokens of answers in progress again. */
  #current(block: Block): Block {
    const gateway = this.#deps.gateway();
    if (block.gateway === gateway) return block;
    block.gateway = gateway;
    block.left = -block.taken;
    if (block.taken > 0) this.#move(block, block.taken);
    return block;
  }

  /** Reserves what is missing, and a block more if that is left. Returns whether it could. */
  async #reserve(
    block: Block,
    { tokens, limit }: { readonly tokens: number; readonly limit: number },
  ): Promise<boolean> {
    const missing = tokens - block.left;
    let isReserved = false;
    await this.#inOrder(block, async () => {
      for (const count of new Set([Math.max(missing, Math.floor((limit - block.total) / SHARE)), missing])) {
        const { gateway } = block;
        const reserved = await this.#deps.reservations.reserve(block, { tokens: count, limit });
        block.total = reserved.used;
        if (!reserved.isReserved) continue;
        if (block.gateway === gateway) block.left += count;
        isReserved = true;
        return;
      }
    });
    return isReserved;
  }

  /** Moves tokens between block and database: adds those that an answer used above its reservation, or returns an idle block. */
  #move(block: Block, tokens: number): void {
    block.left += tokens;
    const { gateway } = block;
    void this.#inOrder(block, async () => {
      try {
        if (block.gateway === gateway) block.total = await this.#deps.reservations.add(block, tokens);
      } catch {
        // The next reservation includes them.
        if (block.gateway === gateway) block.left -= tokens;
      }
    });
  }

  #inOrder(block: Block, write: () => Promise<void>): Promise<void> {
    const before = block.writing?.catch(() => {});
    const writing = (async () => {
      await before;
      await write();
    })().finally(() => {
      if (block.writing === writing) block.writing = undefined;
    });
    block.writing = writing;
    return writing;
  }

  #returnIdle(): void {
    for (const [keyId, block] of this.#blocks) {
      this.#current(block);
      if (block.writing) continue;
      const isIdle = block.answers === 0 && this.#nowMs() - block.spentAtMs >= IDLE_MS;
      if (isIdle && block.left === 0) this.#blocks.delete(keyId);
      else if (block.left > 0 && (isIdle || this.#deps.isReturnedSoon)) this.#move(block, -block.left);
    }
  }
}
