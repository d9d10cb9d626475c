// Who gets a request: the worker from which its first token is expected soonest, of two drawn by chance and those that have read its
// beginning before. Pure: what is known of the workers in, a choice out; it looks at a few of them, however many there are.
import type { WeightedDraw } from './weighted-draw.ts';

export interface Candidate {
  readonly peer: string;
  readonly slots: number;
  /** Jobs of ours there, and those of others as far as it tells. */
  readonly running: number;
  readonly waiting: number;
  /** Measured by us where there is enough to go by, else as it says. 0: unknown. */
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  /** Round trip. */
  readonly rttMs: number;
  /** Of this prompt, tokens that it is believed to have read before. */
  readonly cachedTokens: number;
  /** 0 to 1: how far it is trusted. 0: it gets nothing. */
  readonly standing: number;
  /** It failed lately, cannot take this request, or was asked already. */
  readonly isOpen: boolean;
}

export interface PlacementRequest {
  readonly promptTokens: number;
  /** Of the answer, to be read again before it goes on. */
  readonly replayTokens: number;
}

/** All workers that might be asked. Whoever owns it makes a candidate when it is looked at, not before. */
export interface CandidateField {
  readonly size: number;
  at(index: number): Candidate;
  /** By what each can do: slots times speed. */
  readonly draw: WeightedDraw;
  /** Those that are believed to have read its beginning, the longest first. */
  readonly holders: readonly number[];
}

export interface Placement {
  readonly index: number;
  readonly peer: string;
  readonly expectedFirstTokenMs: number;
  /** Whether it has a free place just now. */
  readonly isFree: boolean;
}

/** A small model on a few processor cores: who says nothing of its speed is taken for one of these. */
const UNKNOWN_PREFILL_PER_SECOND = 100;
const UNKNOWN_DECODE_PER_SECOND = 10;
/** Of a job that is in the way, as far as one can know: what chats have on average. */
const MEAN_PROMPT_TOKENS = 300;
const MEAN_ANSWER_TOKENS = 200;
/** Given tokens are read one by one as long as that takes no longer; beyond, in one batch. */
const REPLAY_BUDGET_MS = 1_000;
/** Below it a worker gets work only where nobody else is. */
const DOUBTED = 0.25;
/** Of a request's holders, those looked at. */
const MOST_HOLDERS = 2;
/** Draws before all are looked at. With half of the places taken, all of these miss once in 4,096. */
const MOST_DRAWS = 12;

/** Expected milliseconds from now to the first token, were the request sent there. */
export function expectedFirstTokenMs(candidate: Candidate, { promptTokens, replayTokens }: PlacementRequest): number {
  const perPrefill = 1_000 / (candidate.prefillTokensPerSecond || UNKNOWN_PREFILL_PER_SECOND);
  const perDecode = 1_000 / (candidate.decodeTokensPerSecond || UNKNOWN_DECODE_PER_SECOND);
  const jobMs = MEAN_PROMPT_TOKENS * perPrefill + MEAN_ANSWER_TOKENS * perDecode;
  // Its slots come free one after the other, so many of them within the time of one job.
  const queueMs = (Math.max(0, jobsAt(candidate) - candidate.slots + 1) / candidate.slots) * jobMs;
  const readMs = Math.max(0, promptTokens - candidate.cachedTokens) * perPrefill;
  const exactMs = replayTokens * perDecode;
  const replayMs = exactMs <= REPLAY_BUDGET_MS ? exactMs : replayTokens * perPrefill;
  return candidate.rttMs + queueMs + readMs + replayMs + perDecode;
}

/**
 * Undefined when nobody may be asked. Nobody gets more jobs than it has slots while another has a free one. `random` gives numbers
 * from 0 to below 1.
 */
export function choosePlacement(
  field: CandidateField,
  request: PlacementRequest,
  random: () => number,
): Placement | undefined {
  const seen = new Set<number>();
  let best: Ranked | undefined;
  const look = (index: number): boolean => {
    if (seen.has(index)) return false;
    seen.add(index);
    const ranked = ranking(field.at(index), index, request);
    if (ranked && (!best || isBefore(ranked, best))) best = ranked;
    return ranked?.rank === 0;
  };
  for (const index of field.holders.slice(0, MOST_HOLDERS)) look(index);
  let left = Math.min(2, field.size);
  for (let i = 0; i < MOST_DRAWS && left > 0; i++) {
    const index = field.draw.draw(random());
    if (index >= 0 && look(index)) left -= 1;
  }
  if (best?.rank !== 0) for (let index = 0; index < field.size; index++) look(index);
  return best?.placement;
}

interface Ranked {
  /** 0: trusted and free; 1: trusted; 2: doubted. */
  readonly rank: number;
  readonly score: number;
  readonly placement: Placement;
}

function ranking(candidate: Candidate, index: number, request: PlacementRequest): Ranked | undefined {
  const { peer, standing } = candidate;
  if (candidate.isOpen || standing <= 0) return undefined;
  const expectedMs = expectedFirstTokenMs(candidate, request);
  const isFree = jobsAt(candidate) < candidate.slots;
  return {
    rank: standing < DOUBTED ? 2 : isFree ? 0 : 1,
    // Half the trust: it must be twice as fast.
    score: expectedMs / standing,
    placement: { index, peer, isFree, expectedFirstTokenMs: expectedMs },
  };
}

const isBefore = (a: Ranked, b: Ranked): boolean => (a.rank === b.rank ? a.score < b.score : a.rank < b.rank);
const jobsAt = ({ running, waiting }: Candidate): number => running + waiting;
