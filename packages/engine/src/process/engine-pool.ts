// Several processes of one model as one engine: they share the file's pages, and a prompt goes to the process with the
// longest cached prefix.

import type { ChatPrompt, Engine, Job, JobEvent, ModelInfo, ModelMarks, ScoreJob } from '../engine.ts';
import { chooseSlot, type Slot } from '../llama/choose-slot.ts';

/** A slot of one process, and its last prompt; the process itself chooses which of its slots to use. */
interface PoolSlot extends Slot {
  readonly member: Engine;
  readonly isFree: boolean;
}

export class EnginePool implements Engine {
  /** For tests. */
  readonly members: readonly Engine[];
  readonly #slots: PoolSlot[];
  readonly #jobs = new Map<Engine, number>();
  #clock = 0;

  /** At least one engine; the pool takes ownership. */
  constructor(members: readonly Engine[]) {
    this.members = members;
    this.#slots = members.flatMap((member) =>
      Array.from({ length: member.info.slots }, () => ({ member, tokens: [], usedAt: 0, isFree: true })),
    );
  }

  get info(): ModelInfo {
    const [first] = this.members;
    if (!first) throw new RangeError('a pool needs at least one engine');
    return { ...first.info, slots: this.#slots.length };
  }

  get isReady(): boolean {
    return this.members.some(({ isReady }) => isReady);
  }

  tokenize(text: string, options?: { readonly hasControl?: boolean }): Promise<readonly number[]> {
    return this.#idlest().tokenize(text, options);
  }

  detokenize(tokens: readonly number[]): Promise<string> {
    return this.#idlest().detokenize(tokens);
  }

  render(prompt: ChatPrompt): Promise<readonly number[]> {
    return this.#idlest().render(prompt);
  }

  marks(): Promise<ModelMarks> {
    return this.#idlest().marks();
  }

  embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    const member = this.#idlest();
    return this.#counted(member, member.embed(tokens, signal));
  }

  score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]> {
    const member = this.#idlest();
    return this.#counted(member, member.score(job, signal));
  }

  async *generate(job: Job, signal: AbortSignal): AsyncIterable<JobEvent> {
    const at = this.#choose(job);
    const slot = this.#slots[at];
    const member = slot?.member ?? this.#idlest();
    if (slot) this.#slots[at] = { ...slot, isFree: false, cacheKey: job.cacheKey };
    const tokens = [...job.prompt, ...job.given];
    const { promise: over, resolve } = Promise.withResolvers<void>();
    void this.#counted(member, over);
    try {
      for await (const event of member.generate(job, signal)) {
        if (event.kind === 'token') tokens.push(event.token);
        yield event;
      }
    } finally {
      resolve();
      if (slot) this.#slots[at] = { member, tokens, usedAt: ++this.#clock, isFree: true, cacheKey: job.cacheKey };
    }
  }

  /** Index of the slot; -1 when all are taken. */
  #choose({ prompt, cacheKey }: Job): number {
    const free = this.#slots.filter(({ isFree }) => isFree);
    const ready = free.filter(({ member }) => member.isReady);
    const loaded = (ready.length > 0 ? ready : free).map((slot) => ({
      slot,
      ...slot,
      load: this.#loadOf(slot.member),
    }));
    const chosen = chooseSlot(loaded, prompt, cacheKey);
    return chosen ? this.#slots.indexOf(chosen.slot) : -1;
  }

  #idlest(): Engine {
    const ready = this.members.filter(({ isReady }) => isReady);
    const [first, ...rest] = ready.length > 0 ? ready : this.members;
    if (!first) throw new RangeError('a pool needs at least one engine');
    return rest.reduce((best, each) => (this.#loadOf(each) < this.#loadOf(best) ? each : best), first);
  }

  #loadOf(member: Engine): number {
    return this.#jobs.get(member) ?? 0;
  }

  #counted<T>(member: Engine, work: Promise<T>): Promise<T> {
    this.#jobs.set(member, this.#loadOf(member) + 1);
    return work.finally(() => this.#jobs.set(member, this.#loadOf(member) - 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()));
  }
}
