// Time-outs for very many short waits: one interval for all of them, instead of a timer each.

/** Something that waits. `slot` and `rounds` belong to the wheel. */
export interface WheelEntry {
  slot: number;
  rounds: number;
  expire(): void;
}

/** How exactly time-outs are kept: late by up to a tick, never early. */
const TICK_MS = 20;
const SLOTS = 256;

/** Its interval runs only while something waits, so an idle wheel keeps no process alive. */
export class TimerWheel implements Disposable {
  readonly #slots: Set<WheelEntry>[] = Array.from({ length: SLOTS }, () => new Set());
  #interval: NodeJS.Timeout | undefined;
  #size = 0;
  /** Ticks turned, and when the first of them began. */
  #turned = 0;
  #startedAt = 0;

  add(entry: WheelEntry, delayMs: number): void {
    if (this.#interval === undefined) this.#start();
    // One tick more than it takes, for the one that is under way; and measured from now, for the wheel may lag.
    const due = Math.ceil((performance.now() - this.#startedAt + delayMs) / TICK_MS) + 1;
    const ticks = Math.max(1, due - this.#turned);
    entry.slot = (this.#turned + ticks) % SLOTS;
    entry.rounds = Math.floor((ticks - 1) / SLOTS);
    this.#slots[entry.slot]?.add(entry);
    this.#size += 1;
  }

  /** Safe to call for an entry that has expired already. */
  remove(entry: WheelEntry): void {
    if (this.#slots[entry.slot]?.delete(entry)) this.#size -= 1;
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#turned = 0;
    this.#interval = setInterval(() => this.#turn(), TICK_MS);
  }

  /** Turns as far as time has passed: a busy event loop makes one late call of several ticks. */
  #turn(): void {
    const target = Math.floor((performance.now() - this.#startedAt) / TICK_MS);
    while (this.#turned < target && this.#size > 0) {
      this.#turned += 1;
      this.#expireSlot(this.#turned % SLOTS);
    }
    this.#turned = Math.max(this.#turned, target);
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
