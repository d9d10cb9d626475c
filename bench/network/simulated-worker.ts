// One worker in simulated time: slots, a line, and the conversations that it has read.
import { normal } from '../../tests/support/random.ts';

/** A worker as a gateway sees it. */
export interface WorkerView {
  readonly peer: string;
  readonly slots: number;
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  readonly rttMs: number;
  /** Running and queued: the gateway's own, and those of other gateways from the last heartbeat. */
  readonly jobs: number;
}

export interface Conversation {
  readonly tokens: number[];
}

export interface Job {
  readonly conversation: Conversation;
  readonly gateway: number;
  readonly arrivedAtMs: number;
  readonly answerTokens: number;
  /** Made by workers that died since. */
  madeTokens: number;
  decodesFromMs: number;
  firstTokenAtMs: number;
  hasFirst: boolean;
}

/** Each conversation begins with a system prompt of this length. */
export const SYSTEM_TOKENS = 256;
/** Of speeds from one worker to another: the middle nine tenths span a factor of eight. */
const SPEED_SIGMA = Math.log(8) / (2 * 1.645);
export type WorkerKind = Pick<WorkerView, 'slots' | 'decodeTokensPerSecond' | 'rttMs'>;

export function randomKind(random: () => number): WorkerKind {
  const deviation = normal(random);
  return {
    slots: 1 + Math.floor(random() * 8),
    decodeTokensPerSecond: 30 * Math.exp(SPEED_SIGMA * deviation),
    rttMs: 5 + random() * 95,
  };
}

export class SimulatedWorker implements WorkerView {
  readonly peer: string;
  readonly slots: number;
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  readonly rttMs: number;
  readonly running = new Set<Job>();
  readonly waiting: Job[] = [];
  /** Jobs of each gateway. */
  readonly own = new Map<number, number>();
  jobs = 0;
  isAlive = true;
  /** From its last heartbeat: all, and those of each gateway. */
  #reported = { jobs: 0, own: new Map<number, number>() };
  /** As many as it has slots, the latest last. */
  readonly #read = new Map<Conversation, number>();

  constructor(peer: string, { slots, decodeTokensPerSecond, rttMs }: WorkerKind) {
    this.peer = peer;
    this.slots = slots;
    this.decodeTokensPerSecond = decodeTokensPerSecond;
    this.prefillTokensPerSecond = decodeTokensPerSecond * 20;
    this.rttMs = rttMs;
  }

  /** The next job, where it has a slot for one. Gives when it ends, and how many of its tokens need not be read. */
  start(nowMs: number): { readonly job: Job; readonly endsAtMs: number; readonly cachedTokens: number } | undefined {
    const job = this.running.size < this.slots ? this.waiting.shift() : undefined;
    if (!job) return undefined;
    this.running.add(job);
    const { tokens } = job.conversation;
    // At least the last token is read again, as engines do.
    const cachedTokens = Math.min(this.#cachedOf(job.conversation), tokens.length - 1);
    const toRead = tokens.length - cachedTokens + job.madeTokens;
    const tokenMs = 1_000 / this.decodeTokensPerSecond;
    job.decodesFromMs = nowMs + (toRead * 1_000) / this.prefillTokensPerSecond;
    job.firstTokenAtMs = job.decodesFromMs + tokenMs + this.rttMs;
    const endsAtMs = job.decodesFromMs + (job.answerTokens - job.madeTokens) * tokenMs;
    return { job, endsAtMs, cachedTokens };
  }

  finish({ conversation }: Job): void {
    this.#read.delete(conversation);
    this.#read.set(conversation, conversation.tokens.length);
    for (const oldest of this.#read.keys()) {
      if (this.#read.size <= this.slots) break;
      this.#read.delete(oldest);
    }
  }

  /** Gives what it leaves unfinished. */
  die(nowMs: number): readonly Job[] {
    this.isAlive = false;
    for (const job of this.running) {
      const made = (Math.max(0, nowMs - job.decodesFromMs) / 1_000) * this.decodeTokensPerSecond;
      job.madeTokens = Math.min(job.answerTokens - 1, job.madeTokens + Math.floor(made));
    }
    return [...this.running, ...this.waiting];
  }

  count(gateway: number, change: 1 | -1): void {
    this.own.set(gateway, (this.own.get(gateway) ?? 0) + change);
  }

  report(): void {
    this.#reported = { jobs: this.running.size + this.waiting.length, own: new Map(this.own) };
  }

  jobsKnownTo(gateway: number): number {
    const foreign = this.#reported.jobs - (this.#reported.own.get(gateway) ?? 0);
    return foreign + (this.own.get(gateway) ?? 0);
  }

  /** The longest beginning that it has: of the conversation itself, or the system prompt in another one. */
  #cachedOf(conversation: Conversation): number {
    const own = this.#read.get(conversation);
    if (own !== undefined) return own;
    for (const { tokens } of this.#read.keys()) if (tokens[0] === conversation.tokens[0]) return SYSTEM_TOKENS;
    return 0;
  }
}
