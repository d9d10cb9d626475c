// The interface of the workers of one model, as used by the network engine.
import type { Job } from '@strata/engine';
import type { WorkerSession } from '../session/worker-session.ts';

export interface Chosen {
  readonly session: WorkerSession;
  /** At least 50, so that timer granularity does not trigger hedged requests. */
  readonly expectedFirstTokenMs: number;
  /** Measured by this gateway if there are enough samples, otherwise as reported by the worker. 0: unknown. */
  readonly decodeTokensPerSecond: number;
  /** The context length in its offer at the time of the choice: the worker may end the answer when it is full. */
  readonly contextLength: number;
}

export interface Served {
  readonly peer: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly firstTokenMs: number | undefined;
  /** Time from the first to the last token. */
  readonly decodeMs: number;
  /** Our answers, including this one, that the worker was writing when the first token of this one arrived. */
  readonly concurrentAnswers: number;
  /** Tokens that the worker generated; fewer than it has read if other workers generated the start of the answer. */
  readonly made: number;
  /** All tokens that are now in its cache: prompt and answer. */
  readonly tokens: readonly number[];
}

export interface Fleet {
  /** Whether there is any worker. */
  readonly isReady: boolean;
  /** The number of answers that all workers together can generate concurrently. */
  readonly slots: number;
  /** Undefined if no worker is left. The caller must report the outcome with one of the methods below. */
  choose(job: Pick<Job, 'prompt' | 'given'>, options: { readonly except: ReadonlySet<string> }): Chosen | undefined;
  /** A part of an answer succeeded: its speed, concurrency and cached tokens affect later choices. */
  noteServed(served: Served): void;
  /** A call other than an answer succeeded: a score or an embedding. */
  noteAnswered(peer: string): void;
  noteLost(peer: string, loss: string): void;
}
