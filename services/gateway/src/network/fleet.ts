// The workers that can be asked for one model, as NetworkEngine sees them.
import type { Job } from '@strata/engine';
import type { WorkerSession } from './worker-session.ts';

export interface Chosen {
  readonly session: WorkerSession;
  /** At least 50: whoever hedges when a multiple of it has passed without a token is not misled by a timer. */
  readonly expectedFirstTokenMs: number;
  /** Measured by us where there is enough to go by, else as it says. 0: unknown. */
  readonly decodeTokensPerSecond: number;
  /** By its offer of that moment: it may end an answer where this is full. */
  readonly contextLength: number;
}

export interface Served {
  readonly peer: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly firstTokenMs: number | undefined;
  /** From the first token to the last. */
  readonly decodeMs: number;
  /** Tokens that it made; fewer than it has read where others made the beginning of the answer. */
  readonly made: number;
  /** All that it has read now: prompt and answer. */
  readonly tokens: readonly number[];
}

export interface Fleet {
  /** Whether there is anybody. */
  readonly isReady: boolean;
  /** Answers side by side that its workers make together. */
  readonly slots: number;
  /** Undefined when there is nobody left to ask. */
  choose(job: Pick<Job, 'prompt' | 'given'>, options: { readonly except: ReadonlySet<string> }): Chosen | undefined;
  /** Takes the news: speed and prefix for later choices; a loss for the breaker. */
  noteServed(served: Served): void;
  noteLost(peer: string, loss: string): void;
}
