// Retries transient failures with exponential backoff, as long as the download makes progress.
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelStoreError } from './error.ts';

export interface DownloadRetry {
  /** What failed, for logs. */
  readonly reason: string;
  /** Delay before the retry. */
  readonly pauseMs: number;
}

export interface RetryPolicy {
  /** Consecutive failures before giving up. */
  readonly retries: number;
  /** Delay before the first retry; doubled for each further one. */
  readonly retryMs: number;
  readonly onRetry?: ((retry: DownloadRetry) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A failure that a retry may resolve. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
  /** Delay requested by the server. */
  readonly afterMs: number;

  constructor(message: string, { afterMs = 0, ...options }: ErrorOptions & { readonly afterMs?: number } = {}) {
    super(message, options);
    this.afterMs = afterMs;
  }
}

const MAX_DELAY_MS = 30_000;
/** A longer delay requested by the server becomes an error instead of a silent wait. */
const MAX_REQUESTED_DELAY_MS = 120_000;
/** An attempt that received this much resets the failure count; a connection that breaks after a few bytes does not. */
const PROGRESS_BYTES = 1024 * 1024;

/**
 * Repeats the attempt until it succeeds; rejects with `network` when retries run out, and at once with other errors.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, retryMs, onRetry, signal }: RetryPolicy,
  receivedBytes: () => number = () => 0,
): Promise<T> {
  for (let failures = 0, before = receivedBytes(); ; ) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TransientError)) throw error;
      const gained = receivedBytes() - before;
      before = receivedBytes();
      failures = gained >= PROGRESS_BYTES ? 1 : failures + 1;
      if (failures > retries) throw new ModelStoreError('network', error.message, { cause: error });
      if (error.afterMs > MAX_REQUESTED_DELAY_MS) {
        const seconds = Math.ceil(error.afterMs / 1000);
        throw new ModelStoreError('network', `${error.message}; the server asks for a retry in ${seconds} s`, {
          cause: error,
        });
      }
      // Jitter spreads the retries of clients that failed at the same time.
      const jitter = 0.75 + Math.random() / 2;
      const pauseMs = Math.max(Math.min(retryMs * 2 ** (failures - 1), MAX_DELAY_MS) * jitter, error.afterMs);
      onRetry?.({ reason: error.message, pauseMs });
      await sleep(pauseMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}
