// Who gets a request: the worker from which its first token is expected soonest, of two drawn by chance; a conversation goes back to where
// its beginning was read. Pure: what is known of the workers in, a choice out.

export interface Candidate {
  readonly peer: string;
  readonly slots: number;
  /** Jobs of ours there, and those of others as far as it tells. */
  readonly running: number;
  readonly waiting: number;
  /** Measured by us where there is enough to go by, else as it says. 0: unknown. */
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  /** Round trip, and how much its delays vary. */
  readonly rttMs: number;
  /** Of this prompt, tokens that it is believed to have read before. */
  readonly cachedTokens: number;
  /** 0 to 1: how far it is trusted; below a bound it gets work only where nobody else is. */
  readonly standing: number;
  /** Failures in a row, and when the last one was: see `breaker.ts`. */
  readonly isOpen: boolean;
}

export interface Placement {
  readonly peer: string;
  readonly expectedFirstTokenMs: number;
  /** Whether it has a free place just now. */
  readonly isFree: boolean;
}

/** Expected milliseconds from now to the first token, were the request sent there. */
export function expectedFirstTokenMs(
  _candidate: Candidate,
  _request: { readonly promptTokens: number; readonly replayTokens: number },
): number {
  throw new Error('not yet');
}

/** Undefined when there is no candidate that may be asked. `random` gives numbers from 0 to below 1. */
export function choosePlacement(
  _candidates: readonly Candidate[],
  _request: { readonly promptTokens: number; readonly replayTokens: number },
  _random: () => number,
): Placement | undefined {
  throw new Error('not yet');
}
