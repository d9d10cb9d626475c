// Chooses the worker for a request: the one with the lowest expected time to first token, of two random workers and
// those that have the prefix in their cache. Pure; it inspects a few workers, however many there are.

import type { WeightedDraw } from '../audit/weighted-draw.ts';
import { replayOf } from './replay.ts';
import { maxReadingMs } from './stall-watch.ts';

export interface Candidate {
  readonly peer: string;
  readonly slots: number;
  /** Jobs that run or wait there: our own, and those of other gateways as far as the worker reports them. */
  readonly jobs: number;
  /** Measured by this gateway if there are enough samples, otherwise as reported by the worker. 0: unknown. */
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  /** Round-trip time. */
  readonly rttMs: number;
  /** The expected time in which it loads the model first; 0: it is loaded. */
  readonly loadMs: number;
  /** With `loadMs`: the load was begun. */
  readonly isLoading: boolean;
  /** The expected time that requests to models lose which it closes for the load. Infinite: it cannot load the model. */
  readonly evictionMs: number;
  /** The number of prompt tokens that its cache probably contains. */
  readonly cachedTokens: number;
  /** Trust from 0 to 1. A worker with 0 gets no requests. */
  readonly reputation: number;
  /** Its breaker is open, it cannot serve this request, or it was already asked. */
  readonly isOpen: boolean;
}

export interface PlacementRequest {
  readonly promptTokens: number;
  /** Tokens of the answer that must be read again before it continues. */
  readonly replayTokens: number;
}

/** All workers that can be asked. A candidate is built only when it is inspected. */
export interface CandidateField {
  readonly size: number;
  at(index: number): Candidate;
  /** Random draw, weighted by capacity: slots times speed. */
  readonly draw: WeightedDraw;
  /** Workers that probably have the prefix in their cache, longest prefix first. */
  readonly holders: readonly number[];
}

export interface Placement {
  readonly index: number;
  readonly peer: string;
  readonly expectedFirstTokenMs: number;
}

/** Assumed for workers of unknown speed: a small model on a few processor cores. */
const UNKNOWN_PREFILL_PER_SECOND = 100;
const UNKNOWN_DECODE_PER_SECOND = 10;
/** Assumed length of jobs that are ahead in the queue: the average of chats. */
const MEAN_PROMPT_TOKENS = 300;
const MEAN_ANSWER_TOKENS = 200;
/** A worker with less trust gets requests only if there is no other. */
const DOUBTED = 0.25;
/** Maximum number of cache holders that are inspected. */
const MAX_HOLDERS = 2;
/**
 * Number of workers with a free slot to choose from. With more, the same workers are chosen repeatedly: with 10 the
 * 99th percentile of the wait is 1.5 times as long.
 */
const DRAWN = 2;
/**
 * Maximum number of draws before all workers are inspected. If half of the slots are taken, all draws miss once in
 * 4,096.
 */
const MAX_DRAWS = 12;

/**
 * A further load of a model that is loaded, or being loaded, elsewhere begins when the request would wait for more than this
 * share of the load and of what it takes from other models: later requests use it too. Measured by `bench -- placement`.
 */
const LOAD_SHARE = 0.5;

/** The expected time in milliseconds from now to the first token if the request is sent to this worker. */
export function expectedFirstTokenMs(candidate: Candidate, { promptTokens, replayTokens }: PlacementRequest): number {
  const perPrefill = 1_000 / (candidate.prefillTokensPerSecond || UNKNOWN_PREFILL_PER_SECOND);
  const perDecode = 1_000 / (candidate.decodeTokensPerSecond || UNKNOWN_DECODE_PER_SECOND);
  const jobMs = MEAN_PROMPT_TOKENS * perPrefill + MEAN_ANSWER_TOKENS * perDecode;
  // Slots become free one after the other: as many as the worker has within the duration of one job.
  const queueMs = (Math.max(0, candidate.jobs - candidate.slots + 1) / candidate.slots) * jobMs;
  const readMs = Math.max(0, promptTokens - candidate.cachedTokens) * perPrefill;
  const replay = replayOf({ givenTokens: replayTokens, decodeTokensPerSecond: 1_000 / perDecode });
  const replayMs = replayTokens * (replay === 'exact' ? perDecode : perPrefill);
  return candidate.rttMs + candidate.loadMs + queueMs + readMs + replayMs + perDecode;
}

/**
 * Returns undefined if no worker can be asked. No worker gets more jobs than it has slots while another has a free one.
 * `random` returns numbers from 0 to below 1.
 */
export function choosePlacement(
  field: CandidateField,
  request: PlacementRequest,
  random: () => number,
): Placement | undefined {
  const best = new Best(field, request);
  const inspected = field.holders.slice(0, MAX_HOLDERS);
  for (const index of inspected) best.inspect(index);
  let free = 0;
  for (let i = 0; i < MAX_DRAWS && free < DRAWN; i++) {
    const index = field.draw.draw(random());
    if (index < 0 || inspected.includes(index)) continue;
    inspected.push(index);
    if (best.inspect(index) === FREE) free += 1;
  }
  if (best.rank !== FREE) for (let index = 0; index < field.size; index++) best.inspect(index);
  return best.placement;
}

/**
 * Ranks, best first: trusted with a free slot and the model loaded; trusted, with the model loaded or being loaded; trusted
 * and would have to load it; doubted; excluded.
 */
const FREE = 0;
const FULL = 1;
const UNLOADED = 2;
const LAST_RESORT = 3;
const NEVER = 4;

/**
 * The best of the inspected candidates. Allocates nothing for the rest: when all workers are full, all are inspected.
 */
class Best {
  readonly #field: CandidateField;
  readonly #request: PlacementRequest;
  #index = -1;
  #score = Number.POSITIVE_INFINITY;
  rank = NEVER;
  /** The cheapest further load. */
  #load = -1;
  #loadScore = Number.POSITIVE_INFINITY;
  /** A begun load will serve this request too. */
  #isLoadingWithSlot = false;

  constructor(field: CandidateField, request: PlacementRequest) {
    this.#field = field;
    this.#request = request;
  }

  /** Returns the rank of the candidate. */
  inspect(index: number): number {
    const candidate = this.#field.at(index);
    const expectedMs = expectedFirstTokenMs(candidate, this.#request);
    const rank = rankOf(candidate, expectedMs, this.#request);
    // With half the trust, a worker must be twice as fast.
    const score = (expectedMs + candidate.evictionMs) / candidate.reputation;
    if (rank === FULL && candidate.isLoading && candidate.jobs < candidate.slots) this.#isLoadingWithSlot = true;
    if (rank === UNLOADED && score < this.#loadScore) {
      this.#load = index;
      this.#loadScore = score;
    }
    if (rank === NEVER || rank > this.rank || rank === UNLOADED) return rank;
    if (rank === this.rank && score >= this.#score) return rank;
    this.#index = index;
    this.#score = score;
    this.rank = rank;
    return rank;
  }

  get placement(): Placement | undefined {
    const index = this.#isLoadBetter() ? this.#load : this.#index;
    if (index < 0) return undefined;
    const candidate = this.#field.at(index);
    return {
      index,
      peer: candidate.peer,
      expectedFirstTokenMs: expectedFirstTokenMs(candidate, this.#request),
    };
  }

  /** One load at a time, and none while the workers that have the model are expected to answer about as soon. */
  #isLoadBetter(): boolean {
    if (this.#load < 0 || this.rank === FREE) return false;
    if (this.rank !== FULL) return true;
    return !this.#isLoadingWithSlot && LOAD_SHARE * this.#loadScore < this.#score;
  }
}

function rankOf(candidate: Candidate, expectedMs: number, { promptTokens, replayTokens }: PlacementRequest): number {
  if (candidate.isOpen || candidate.reputation <= 0 || candidate.evictionMs === Number.POSITIVE_INFINITY) return NEVER;
  if (candidate.reputation < DOUBTED) return LAST_RESORT;
  if (candidate.loadMs > 0 && !candidate.isLoading) return UNLOADED;
  // A free slot does not count if the job would wait for a load, or time out before its first token: the worker then
  // competes with the full ones.
  const isSoon = expectedMs <= maxReadingMs(promptTokens + replayTokens);
  return isSoon && candidate.loadMs === 0 && candidate.jobs < candidate.slots ? FREE : FULL;
}
