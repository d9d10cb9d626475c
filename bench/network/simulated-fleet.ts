// Workers, gateways and conversations in simulated time, to compare ways of choosing a worker. Everything follows from the seed.
import { randomFrom } from '../../tests/support/random.ts';
import {
  type Conversation,
  type Job,
  randomKind,
  SimulatedWorker,
  SYSTEM_TOKENS,
  type WorkerKind,
  type WorkerView,
} from './simulated-worker.ts';

export interface FleetOptions {
  readonly workers: number;
  /** Simulated; requests of the first third are not counted. */
  readonly seconds: number;
  readonly seed: number;
  /** Mean time until a worker dies, with all its jobs and its cache; a new one of its kind replaces it. 300 by default. */
  readonly workerLifeSeconds?: number;
}

interface FleetRequest {
  readonly tokens: readonly number[];
  readonly replayTokens: number;
}

/** One gateway's way to choose. */
export interface Policy {
  /** Index of one of the workers. */
  choose(request: FleetRequest, workers: readonly WorkerView[]): number;
  served?(peer: string, tokens: readonly number[]): void;
  lost?(peer: string): void;
}

export type PolicyOf = (random: () => number) => Policy;

/** Each knows its own jobs at once, and those of other gateways from heartbeats. */
const GATEWAYS = 4;
/** Heartbeats come every 250 ms from busy workers, every second from idle ones. */
const TICK_MS = 50;
const BUSY_TICKS = 5;
const IDLE_TICKS = 20;
/** Share of what all workers can do together. */
const LOAD = 0.7;
/** Share of answers after which the conversation goes on. */
const CONTINUED = 0.7;
const MEAN_ANSWER = 200;
/** What a prompt has to read where nothing was read before, on average; only to say what a load of 1 is. */
const MEAN_PROMPT = 800;
const LONGEST_PROMPT = 4_000;
/** From the end of an answer to what its reader says next. */
const MEAN_THOUGHT_MS = 10_000;

/** The same world for each policy of the same seed, as far as what they choose does not change it. */
export function simulateFleet(policyOf: PolicyOf, options: FleetOptions) {
  return new SimulatedFleet(policyOf, options).run();
}

class SimulatedFleet {
  readonly #options: Required<FleetOptions>;
  readonly #random: () => number;
  readonly #events = new EventQueue();
  readonly #policies: readonly Policy[];
  readonly #workers: SimulatedWorker[];
  readonly #systems: readonly (readonly number[])[];
  readonly #firstTokenMs: number[] = [];
  #promptTokens = 0;
  #cachedTokens = 0;
  #workersMade = 0;
  #tokensMade = 0;

  constructor(policyOf: PolicyOf, options: FleetOptions) {
    this.#options = { workerLifeSeconds: 300, ...options };
    const { seed, workers } = this.#options;
    this.#random = randomFrom(seed);
    this.#policies = Array.from({ length: GATEWAYS }, (_, i) => policyOf(randomFrom(seed * 1_000 + i + 1)));
    this.#workers = Array.from({ length: workers }, () => this.#newWorker(randomKind(this.#random)));
    this.#systems = Array.from({ length: 5 }, () => this.#newTokens(SYSTEM_TOKENS));
  }

  /** Milliseconds to the first token of each request that had one; the share of prompt tokens that needed not be read. */
  run() {
    this.#events.at(0, () => this.#tick(0));
    for (const index of this.#workers.keys()) this.#planDeath(index);
    this.#planArrival(this.#meanGapMs());
    this.#events.runUntil(this.#options.seconds * 1_000);
    return { firstTokenMs: this.#firstTokenMs, cachedShare: this.#cachedTokens / this.#promptTokens };
  }

  /** Between new conversations, so that requests of all of them together are the load. */
  #meanGapMs(): number {
    const perSecond = this.#workers.reduce((sum, { slots, decodeTokensPerSecond, prefillTokensPerSecond }) => {
      return sum + slots / (MEAN_PROMPT / prefillTokensPerSecond + MEAN_ANSWER / decodeTokensPerSecond);
    }, 0);
    return 1_000 / (perSecond * LOAD * (1 - CONTINUED));
  }

  #planArrival(meanGapMs: number): void {
    this.#events.at(this.#events.nowMs + this.#exponential(meanGapMs), () => {
      const system = this.#systems[this.#between(0, this.#systems.length - 1)] ?? [];
      const gateway = this.#between(0, GATEWAYS - 1);
      this.#ask({ tokens: [...system, ...this.#newTokens(this.#between(20, 180))] }, gateway);
      this.#planArrival(meanGapMs);
    });
  }

  #ask(conversation: Conversation, gateway: number): void {
    const answerTokens = 1 + Math.floor(this.#exponential(MEAN_ANSWER));
    const arrivedAtMs = this.#events.nowMs;
    this.#send({
      ...{ conversation, gateway, answerTokens, arrivedAtMs, madeTokens: 0 },
      ...{ decodesFromMs: Number.POSITIVE_INFINITY, firstTokenAtMs: Number.POSITIVE_INFINITY, hasFirst: false },
    });
  }

  #send(job: Job): void {
    for (const worker of this.#workers) worker.jobs = worker.jobsKnownTo(job.gateway);
    const request = { tokens: job.conversation.tokens, replayTokens: job.madeTokens };
    const index = this.#policies[job.gateway]?.choose(request, this.#workers) ?? -1;
    const worker = this.#workers[index];
    if (!worker) throw new RangeError(`there is no worker ${index}`);
    worker.count(job.gateway, 1);
    worker.waiting.push(job);
    this.#start(worker);
  }

  #start(worker: SimulatedWorker): void {
    const started = worker.start(this.#events.nowMs);
    if (!started) return;
    this.#promptTokens += started.job.conversation.tokens.length;
    this.#cachedTokens += started.cachedTokens;
    this.#events.at(started.endsAtMs, () => {
      if (worker.isAlive) this.#finish(worker, started.job);
    });
  }

  #finish(worker: SimulatedWorker, job: Job): void {
    const { conversation, gateway } = job;
    this.#countFirst(job);
    worker.running.delete(job);
    worker.count(gateway, -1);
    conversation.tokens.push(...this.#newTokens(job.answerTokens));
    worker.finish(job);
    this.#policies[gateway]?.served?.(worker.peer, conversation.tokens);
    this.#start(worker);
    if (this.#random() >= CONTINUED || conversation.tokens.length > LONGEST_PROMPT) return;
    this.#events.at(this.#events.nowMs + this.#exponential(MEAN_THOUGHT_MS), () => {
      conversation.tokens.push(...this.#newTokens(this.#between(20, 180)));
      this.#ask(conversation, gateway);
    });
  }

  /** All gateways notice a failure at once, and its jobs are sent again. */
  #planDeath(index: number): void {
    const { workerLifeSeconds } = this.#options;
    this.#events.at(this.#events.nowMs + this.#exponential(workerLifeSeconds * 1_000), () => {
      const worker = this.#workers[index] as SimulatedWorker;
      this.#workers[index] = this.#newWorker(worker);
      for (const policy of this.#policies) policy.lost?.(worker.peer);
      for (const job of worker.die(this.#events.nowMs)) {
        if (job.firstTokenAtMs <= this.#events.nowMs) this.#countFirst(job);
        this.#send(job);
      }
      this.#planDeath(index);
    });
  }

  #countFirst(job: Job): void {
    const isCounted = !job.hasFirst && job.arrivedAtMs > (this.#options.seconds * 1_000) / 3;
    if (isCounted) this.#firstTokenMs.push(job.firstTokenAtMs - job.arrivedAtMs);
    job.hasFirst = true;
  }

  #tick(tick: number): void {
    for (let i = tick % BUSY_TICKS; i < this.#workers.length; i += BUSY_TICKS) {
      const worker = this.#workers[i] as SimulatedWorker;
      const jobs = worker.running.size + worker.waiting.length;
      if (jobs > 0 || (tick + i) % IDLE_TICKS < BUSY_TICKS) worker.report();
    }
    this.#events.at(this.#events.nowMs + TICK_MS, () => this.#tick(tick + 1));
  }

  #newWorker(kind: WorkerKind): SimulatedWorker {
    return new SimulatedWorker(`w${this.#workersMade++}`, kind);
  }

  #newTokens(count: number): number[] {
    return Array.from({ length: count }, () => this.#tokensMade++);
  }

  #exponential(mean: number): number {
    return -Math.log(1 - this.#random()) * mean;
  }

  #between(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }
}

/** Simulated time: what is planned for the same time happens in the order of its planning. */
class EventQueue {
  /** Soonest last. */
  readonly #planned: { readonly atMs: number; readonly happen: () => void }[] = [];
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, happen: () => void): void {
    let [from, to] = [0, this.#planned.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#planned[middle]?.atMs ?? 0) > atMs) from = middle + 1;
      else to = middle;
    }
    this.#planned.splice(from, 0, { atMs, happen });
  }

  runUntil(endMs: number): void {
    for (let next = this.#planned.at(-1); next && next.atMs <= endMs; next = this.#planned.at(-1)) {
      this.#planned.pop();
      this.#nowMs = next.atMs;
      next.happen();
    }
  }
}
