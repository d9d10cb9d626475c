// The health of one target of a route: failures in a row begin a cooldown, in which other targets are preferred. Then one
// request probes it, until one succeeds. Nothing here waits or refuses: `chooseTarget` decides with it.
import type { Fault } from './fault.ts';

export interface HealthOptions {
  /** Failures in a row that begin a cooldown. */
  readonly failures: number;
  /** Failures that are longer ago are forgotten. */
  readonly windowMs: number;
  /** The first cooldown; each failed probe doubles it, up to five minutes. */
  readonly cooldownMs: number;
}

/** One attempt at a target. Only the first call of `failed` or `ended` has an effect. */
export interface Attempt {
  /** The first token arrived. */
  answered(nowMs: number): void;
  /** The answer is complete. */
  ended(): void;
  /** Returns whether this began a cooldown. */
  failed(fault: Fault, nowMs: number): boolean;
  /** Without a result, as when the client leaves: the next request can probe. */
  release(): void;
}

const MAX_COOLDOWN_MS = 300_000;
/** A target that asks for a longer wait is probed earlier: limits are raised, and clocks are wrong. */
const MAX_WAIT_MS = 600_000;

export class TargetHealth {
  readonly #options: HealthOptions;
  /** Since the last success, at most as many as begin a cooldown. */
  #failedAtMs: number[] = [];
  #cooledAtMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** From the beginning of a cooldown to the first token of a later attempt. */
  #isCooled = false;
  /** Cooldowns without an answer in between. */
  #cooldowns = 0;
  #probe: Attempt | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** The end of the cooldown; undefined without one. */
  get untilMs(): number | undefined {
    return this.#isCooled ? this.#untilMs : undefined;
  }

  state(nowMs: number): 'ready' | 'cooling' | 'probing' {
    if (!this.#isCooled) return 'ready';
    if (nowMs < this.#untilMs) return 'cooling';
    return this.#probe ? 'probing' : 'ready';
  }

  /** Whether a request that has another choice may go there: after a cooldown one at a time. */
  isAvailable(nowMs: number): boolean {
    return this.state(nowMs) === 'ready';
  }

  begin(nowMs: number): Attempt {
    let isOver = false;
    /** What began before the cooldown says nothing about the target after it. */
    const isCurrent = () => nowMs >= this.#cooledAtMs;
    const release = () => {
      if (this.#probe === attempt) this.#probe = undefined;
    };
    const attempt: Attempt = {
      release,
      answered: () => {
        release();
        if (isCurrent()) this.#close();
      },
      ended: () => {
        release();
        if (!isOver && isCurrent()) this.#failedAtMs = [];
        isOver = true;
      },
      failed: (fault, failedAtMs) => {
        release();
        if (isOver) return false;
        isOver = true;
        return this.#failed(fault, failedAtMs, isCurrent());
      },
    };
    if (this.#isCooled && nowMs >= this.#untilMs) this.#probe ??= attempt;
    return attempt;
  }

  #failed({ reason, retryAfterMs }: Fault, nowMs: number, isCurrent: boolean): boolean {
    // A prompt that is too long for it says nothing about the target.
    if (reason === 'context') return false;
    if (retryAfterMs !== undefined) return this.#cool(nowMs, Math.min(retryAfterMs, MAX_WAIT_MS));
    if (!isCurrent || nowMs < this.#untilMs) return false;
    if (!this.#isCooled && reason !== 'refused') {
      const { failures, windowMs } = this.#options;
      this.#failedAtMs = [...this.#failedAtMs.filter((at) => nowMs - at < windowMs), nowMs];
      if (this.#failedAtMs.length < failures) return false;
    }
    const lengthMs = Math.min(this.#options.cooldownMs * 2 ** this.#cooldowns, MAX_COOLDOWN_MS);
    this.#cooldowns += 1;
    return this.#cool(nowMs, lengthMs);
  }

  #cool(nowMs: number, ms: number): boolean {
    const begins = nowMs >= this.#untilMs;
    this.#untilMs = Math.max(this.#untilMs, nowMs + ms);
    this.#cooledAtMs = nowMs;
    this.#isCooled = true;
    this.#failedAtMs = [];
    return begins;
  }

  #close(): void {
    if (!this.#isCooled) return;
    this.#isCooled = false;
    this.#cooldowns = 0;
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }
}
