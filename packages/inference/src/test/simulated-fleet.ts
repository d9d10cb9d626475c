// Workers, gateways and conversations in simulated time, to compare ways of choosing a worker. Everything follows from the seed.
import { EventQueue } from './event-queue.ts';

export interface FleetOptions {
  readonly workers: number;
  /** Simulated; the first third is not counted. */
  readonly seconds: number;
  /** Share of what all workers can do together. 0.7 by default. */
  readonly load?: number;
  /** Each knows its own jobs at once, those of others by heartbeats alone. 4 by default. */
  readonly gateways?: number;
  /** Mean time until a worker dies, with all its jobs and all that it has read; another comes in its place. 300 by default. */
  readonly workerLifeSeconds?: number;
  /** Share of requests that go on with a conversation. 0.7 by default. */
  readonly continued?: number;
  readonly seed: number;
}

/** A worker as a gateway sees it. */
export interface WorkerView {
  readonly peer: string;
  readonly slots: number;
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  readonly rttMs: number;
  /** Running and waiting: as it last said, or the gateway's own jobs there where those are more. */
  readonly jobs: number;
}

export interface FleetRequest {
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

export interface FleetOutcome {
  /** Milliseconds to the first token, of each request. */
  readonly firstTokenMs: readonly number[];
  /** Prompt tokens that need not be read, of all. */
  readonly cachedShare: number;
}

interface Conversation {
  readonly tokens: number[];
}

interface Job {
  readonly conversation: Conversation;
  readonly gateway: number;
  readonly arrivedAtMs: number;
  readonly answerTokens: number;
  /** When it had some of its answer from another worker. */
  madeTokens: number;
  firstTokenAtMs: number;
  startedAtMs: number;
  hasFirst: boolean;
}

interface Worker extends WorkerView {
  jobs: number;
  readonly running: Set<Job>;
  readonly waiting: Job[];
  /** Conversations as far as it has read them, the latest last: as many as it has slots. */
  readonly cache: Map<Conversation, number>;
  readonly own: number[];
  reported: number;
  isAlive: boolean;
}

/** Heartbeats come every 250 ms from who works, every second from others. */
const TICK_MS = 50;
const BUSY_TICKS = 5;
const IDLE_TICKS = 20;
const MEAN_ANSWER = 200;
const SYSTEM_TOKENS = 256;
/** Of speeds from one worker to another: the middle nine tenths span a factor of eight. */
const SPEED_SIGMA = Math.log(8) / (2 * 1.645);
/** Tokens that a prompt has to read where nothing was read before, on average; only to find out what a load of 1 is. */
const MEAN_PROMPT = 800;

export function simulateFleet(policyOf: PolicyOf, options: FleetOptions): FleetOutcome {
  const { load = 0.7, gateways = 4, workerLifeSeconds = 300, continued = 0.7, seconds, seed } = options;
  const random = seededRandom(seed);
  const exponential = (mean: number) => -Math.log(1 - random()) * mean;
  const between = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const events = new EventQueue();
  // Each gateway draws from numbers of its own, so that all policies meet the same world.
  const policies = Array.from({ length: gateways }, (_, i) => policyOf(seededRandom(seed * 1_000 + i + 1)));
  const endMs = seconds * 1_000;
  const firstTokenMs: number[] = [];
  let readTokens = 0;
  let cachedTokens = 0;
  let workersMade = 0;
  let tokensMade = 0;
  const freshTokens = (count: number) => Array.from({ length: count }, () => 1_000 + tokensMade++);
  const systems = Array.from({ length: 5 }, () => freshTokens(SYSTEM_TOKENS));
  const newWorker = (): Worker => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const decodeTokensPerSecond = 30 * Math.exp(SPEED_SIGMA * normal);
    return {
      peer: `w${workersMade++}`,
      slots: between(1, 8),
      decodeTokensPerSecond,
      prefillTokensPerSecond: decodeTokensPerSecond * 20,
      rttMs: between(5, 100),
      ...{ jobs: 0, reported: 0, isAlive: true, own: Array.from({ length: gateways }, () => 0) },
      ...{ running: new Set<Job>(), waiting: [], cache: new Map<Conversation, number>() },
    };
  };
  const workers = Array.from({ length: options.workers }, newWorker);

  const send = (job: Job) => {
    const policy = policies[job.gateway] as Policy;
    for (const worker of workers) worker.jobs = Math.max(worker.reported, worker.own[job.gateway] ?? 0);
    const { tokens } = job.conversation;
    const worker = workers[policy.choose({ tokens, replayTokens: job.madeTokens }, workers)] as Worker;
    worker.own[job.gateway] = (worker.own[job.gateway] ?? 0) + 1;
    worker.waiting.push(job);
    start(worker);
  };

  const start = (worker: Worker) => {
    if (worker.running.size >= worker.slots) return;
    const job = worker.waiting.shift();
    if (!job) return;
    worker.running.add(job);
    const { tokens } = job.conversation;
    // At least the last token is read again, as engines do.
    const cached = Math.min(cachedOf(worker, job.conversation), tokens.length - 1);
    readTokens += tokens.length - cached;
    cachedTokens += cached;
    const readMs = ((tokens.length - cached + job.madeTokens) / worker.prefillTokensPerSecond) * 1_000;
    const tokenMs = 1_000 / worker.decodeTokensPerSecond;
    job.startedAtMs = events.nowMs + readMs;
    job.firstTokenAtMs = job.startedAtMs + tokenMs + worker.rttMs;
    events.at(job.startedAtMs + (job.answerTokens - job.madeTokens) * tokenMs, () => {
      if (worker.isAlive) finish(worker, job);
    });
  };

  const noteFirst = (job: Job) => {
    if (!job.hasFirst && job.arrivedAtMs > endMs / 3) firstTokenMs.push(job.firstTokenAtMs - job.arrivedAtMs);
    job.hasFirst = true;
  };

  const finish = (worker: Worker, job: Job) => {
    noteFirst(job);
    worker.running.delete(job);
    worker.own[job.gateway] = (worker.own[job.gateway] ?? 0) - 1;
    const { conversation } = job;
    conversation.tokens.push(...freshTokens(job.answerTokens));
    worker.cache.delete(conversation);
    worker.cache.set(conversation, conversation.tokens.length);
    if (worker.cache.size > worker.slots) worker.cache.delete(worker.cache.keys().next().value as Conversation);
    policies[job.gateway]?.served?.(worker.peer, conversation.tokens);
    start(worker);
    if (random() >= continued || conversation.tokens.length > 4_000) return;
    events.at(events.nowMs + exponential(10_000), () => {
      conversation.tokens.push(...freshTokens(between(20, 180)));
      ask(conversation, job.gateway);
    });
  };

  const ask = (conversation: Conversation, gateway: number) =>
    send({
      ...{ conversation, gateway, arrivedAtMs: events.nowMs, answerTokens: 1 + Math.floor(exponential(MEAN_ANSWER)) },
      ...{ madeTokens: 0, firstTokenAtMs: Number.POSITIVE_INFINITY, startedAtMs: 0, hasFirst: false },
    });

  const die = (index: number) => {
    const worker = workers[index] as Worker;
    worker.isAlive = false;
    workers[index] = newWorker();
    for (const policy of policies) policy.lost?.(worker.peer);
    for (const job of worker.running) {
      const sinceMs = Math.max(0, events.nowMs - job.startedAtMs);
      const made = Math.floor((sinceMs / 1_000) * worker.decodeTokensPerSecond);
      job.madeTokens = Math.min(job.answerTokens - 1, job.madeTokens + made);
      if (job.firstTokenAtMs <= events.nowMs) noteFirst(job);
    }
    for (const job of [...worker.running, ...worker.waiting]) send(job);
    events.at(events.nowMs + exponential(workerLifeSeconds * 1_000), () => die(index));
  };

  const perSecond = workers.reduce((sum, { slots, decodeTokensPerSecond, prefillTokensPerSecond }) => {
    return sum + slots / (MEAN_PROMPT / prefillTokensPerSecond + MEAN_ANSWER / decodeTokensPerSecond);
  }, 0);
  const arrive = () => {
    const system = systems[between(0, systems.length - 1)] ?? [];
    ask({ tokens: [...system, ...freshTokens(between(20, 180))] }, between(0, gateways - 1));
    events.at(events.nowMs + exponential(1_000 / (perSecond * load * (1 - continued))), arrive);
  };
  events.at(0, arrive);
  for (const index of workers.keys()) events.at(exponential(workerLifeSeconds * 1_000), () => die(index));
  const beat = (tick: number) => {
    for (let i = tick % BUSY_TICKS; i < workers.length; i += BUSY_TICKS) {
      const worker = workers[i] as Worker;
      const jobs = worker.running.size + worker.waiting.length;
      if (jobs > 0 || (tick + i) % IDLE_TICKS < BUSY_TICKS) worker.reported = jobs;
    }
    events.at(events.nowMs + TICK_MS, () => beat(tick + 1));
  };
  events.at(0, () => beat(0));
  events.runUntil(endMs);
  return { firstTokenMs, cachedShare: cachedTokens / (cachedTokens + readTokens) };
}

/** The longest beginning that it has: the conversation itself, or the system prompt of another one. */
function cachedOf({ cache }: Worker, conversation: Conversation): number {
  const own = cache.get(conversation);
  if (own !== undefined) return own;
  for (const { tokens } of cache.keys()) if (tokens[0] === conversation.tokens[0]) return SYSTEM_TOKENS;
  return 0;
}

/** From 0 to below 1, the same in each run: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
