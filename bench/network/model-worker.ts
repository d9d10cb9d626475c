// One worker in simulated time that loads models on demand within a memory budget, as workers do: the least recently used idle
// ones are closed, then busy ones when their answers have ended.

export const SLOTS = 4;
/** Of a prompt. */
const READ_MS = 300;
/** As workers announce it. */
export const loadMsOf = (bytes: number): number => 1_000 + bytes / 1e6;

interface Waiting {
  readonly model: number;
  readonly askedAtMs: number;
  readonly answerMs: number;
}

interface Held {
  /** Infinite: it is loaded. */
  readyAtMs: number;
  users: number;
  usedAtMs: number;
}

export class ModelWorker {
  readonly peer: string;
  readonly held = new Map<number, Held>();
  readonly #sizes: readonly number[];
  readonly budgetBytes: number;
  readonly #waiting: Waiting[] = [];
  readonly #running: {
    readonly model: number;
    readonly firstAtMs: number;
    readonly endsAtMs: number;
    askedAtMs: number;
  }[] = [];
  nextMs = Number.POSITIVE_INFINITY;

  constructor(peer: string, sizes: readonly number[], budget: number) {
    this.peer = peer;
    this.#sizes = sizes;
    this.budgetBytes = budget;
  }

  get jobs(): number {
    return this.#waiting.length + this.#running.length;
  }

  get heldBytes(): number {
    return [...this.held.keys()].reduce((sum, model) => sum + this.#bytes(model), 0);
  }

  isLoaded(model: number): boolean {
    return this.held.get(model)?.readyAtMs === Number.POSITIVE_INFINITY;
  }

  isLoading(model: number): boolean {
    return this.held.has(model) && !this.isLoaded(model);
  }

  /** Loaded from the start. */
  hold(model: number): void {
    this.held.set(model, { readyAtMs: Number.POSITIVE_INFINITY, users: 0, usedAtMs: 0 });
  }

  ask(model: number, nowMs: number, answerMs: number): void {
    this.#waiting.push({ model, askedAtMs: nowMs, answerMs });
    this.nextMs = nowMs;
  }

  /** When the requests of first tokens that are made now were asked, and how many loads were begun or have ended. */
  advance(nowMs: number): { readonly begun: readonly number[]; readonly changed: number } {
    const begun: number[] = [];
    let changed = 0;
    for (const each of [...this.#running]) {
      if (each.firstAtMs <= nowMs && each.askedAtMs >= 0) {
        begun.push(each.askedAtMs);
        each.askedAtMs = -1;
      }
      if (each.endsAtMs > nowMs) continue;
      this.#running.splice(this.#running.indexOf(each), 1);
      const held = this.held.get(each.model);
      if (held) held.users -= 1;
    }
    for (const held of this.held.values()) if (held.readyAtMs <= nowMs) held.readyAtMs = Number.POSITIVE_INFINITY;
    for (const { model } of this.#waiting) if (!this.held.has(model) && this.#load(model, nowMs)) changed += 1;
    for (const each of [...this.#waiting]) {
      const held = this.held.get(each.model);
      if (this.#running.length >= SLOTS || !held || !this.isLoaded(each.model)) continue;
      held.users += 1;
      held.usedAtMs = nowMs;
      this.#waiting.splice(this.#waiting.indexOf(each), 1);
      const firstAtMs = nowMs + READ_MS;
      this.#running.push({
        model: each.model,
        askedAtMs: each.askedAtMs,
        firstAtMs,
        endsAtMs: firstAtMs + each.answerMs,
      });
    }
    const times = this.#running.flatMap(({ firstAtMs, endsAtMs, askedAtMs }) => [
      askedAtMs >= 0 ? firstAtMs : endsAtMs,
    ]);
    this.nextMs = Math.min(...times, ...[...this.held.values()].map(({ readyAtMs }) => readyAtMs));
    return { begun, changed };
  }

  /** False: the models in use leave no memory yet. */
  #load(model: number, nowMs: number): boolean {
    const victims = [...this.held]
      .filter(([, { users, readyAtMs }]) => users === 0 && readyAtMs === Number.POSITIVE_INFINITY)
      .toSorted(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    let free = this.budgetBytes - this.heldBytes;
    const closed = victims.filter(([victim]) => {
      if (free >= this.#bytes(model)) return false;
      free += this.#bytes(victim);
      return true;
    });
    if (free < this.#bytes(model)) return false;
    for (const [victim] of closed) this.held.delete(victim);
    this.held.set(model, { readyAtMs: nowMs + loadMsOf(this.#bytes(model)), users: 0, usedAtMs: nowMs });
    return true;
  }

  #bytes(model: number): number {
    return this.#sizes[model] ?? 0;
  }
}
