// The workers that can be asked for one model, as NetworkEngine sees them.
import type { Job } from '@strata/engine';
import type { WorkerSession } from '../session/worker-session.ts';

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
  /** Answers of ours, this one too, that it was writing when this one's first token came. */
  readonly sideBySide: number;
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
  /** Undefined when there is nobody left to ask. What came of it is told by one of those below. */
  choose(job: Pick<Job, 'prompt' | 'given'>, options: { readonly except: ReadonlySet<string> }): Chosen | undefined;
  /** It made a part of an answer: what it shows of speed and place, and what it has read, count in later choices. */
  noteServed(served: Served): void;
  /** It answered a question that is no answer: a score, a vector. */
  noteAnswered(peer: string): void;
  noteLost(peer: string, loss: string): void;
}
