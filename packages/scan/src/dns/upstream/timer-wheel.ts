// Time-outs for many short waits, with one interval in place of a timer for each.

/** An entry with a time-out. `slot` and `rounds` belong to the wheel. */
export interface WheelEntry {
  slot: number;
  rounds: number;
  expire(): void;
}

/** Precision: time-outs fire up to one tick late, never early. */
const TICK_MS = 20;
const SLOTS = 256;

/** The interval runs only while entries exist, so an idle wheel does not keep the process alive. */
export class TimerWheel implements Disposable {
  readonly #slots: Set<WheelEntry>[] = Array.from({ length: SLOTS }, () => new Set());
  #interval: NodeJS.Timeout | undefined;
  #size = 0;
  /** Completed ticks, and the start of the first one. */
  #ticks = 0;
  #startedAt = 0;

  add(entry: WheelEntry, delayMs: number): void {
    if (this.#interval === undefined) this.#start();
    // One additional tick for the current one; measured from now, because the wheel may lag.
    const due = Math.ceil((performance.now() - this.#startedAt + delayMs) / TICK_MS) + 1;
    const delayTicks = Math.max(1, due - this.#ticks);
    entry.slot = (this.#ticks + delayTicks) % SLOTS;
    entry.rounds = Math.floor((delayTicks - 1) / SLOTS);
    this.#slots[entry.slot]?.add(entry);
    this.#size += 1;
  }

  /** May be called for an expired entry. */
  remove(entry: WheelEntry): void {
    if (this.#slots[entry.slot]?.delete(entry)) this.#size -= 1;
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#ticks = 0;
    this.#interval = setInterval(() => this.#advance(), TICK_MS);
  }

  /** Advances to the current time: a busy event loop runs several ticks in one late call. */
  #advance(): void {
    const target = Math.floor((performance.now() - this.#startedAt) / TICK_MS);
    while (this.#ticks < target && this.#size > 0) {
      this.#ticks += 1;
      this.#expireSlot(this.#ticks % SLOTS);
    }
    this.#ticks = Math.max(this.#ticks, target);
    if (this.#size === 0) this[Symbol.dispose]();
  }

  #expireSlot(index: number): void {
    const slot = this.#slots[index];
    if (slot === undefined) return;
    for (const entry of slot) {
      if (entry.rounds > 0) entry.rounds -= 1;
      else {
        slot.delete(entry);
        this.#size -= 1;
        entry.expire();
      }
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#interval);
    this.#interval = undefined;
  }
}
