// Patience with networks: what may pass is tried again, later and later, for as long as it comes on.
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelStoreError } from './error.ts';

export interface DownloadRetry {
  /** What went wrong, in words. */
  readonly reason: string;
  /** Until the next try. */
  readonly pauseMs: number;
}

export interface Patience {
  /** Failures in a row that are borne. */
  readonly retries: number;
  /** Before the second try; doubled with each further one. */
  readonly retryMs: number;
  readonly onRetry?: ((retry: DownloadRetry) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Something that another try may find gone. */
export class PassingFailure extends Error {
  override readonly name = 'PassingFailure';
  /** How long the server wants to be left alone. */
  readonly afterMs: number;

  constructor(message: string, { afterMs = 0, ...options }: ErrorOptions & { readonly afterMs?: number } = {}) {
    super(message, options);
    this.afterMs = afterMs;
  }
}

const MAX_PAUSE_MS = 30_000;
/** Who asks for more is not waited for: better to be told than to hang. */
const MAX_ASKED_PAUSE_MS = 120_000;
/** A try that brought so much counts as none failed; a trickle that breaks off again and again does come to an end. */
const WORTHWHILE_BYTES = 1024 * 1024;

/** Tries until it works; rejects with `network` when patience is at its end, and with anything but a PassingFailure at once. */
export async function persist<T>(
  attempt: () => Promise<T>,
  { retries, retryMs, onRetry, signal }: Patience,
  receivedBytes: () => number = () => 0,
): Promise<T> {
  for (let failures = 0, before = receivedBytes(); ; ) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PassingFailure)) throw error;
      const gained = receivedBytes() - before;
      before = receivedBytes();
      failures = gained >= WORTHWHILE_BYTES ? 1 : failures + 1;
      if (failures > retries) throw new ModelStoreError('network', error.message, { cause: error });
      if (error.afterMs > MAX_ASKED_PAUSE_MS) {
        const seconds = Math.ceil(error.afterMs / 1000);
        throw new ModelStoreError('network', `${error.message}; it asks to be tried again in ${seconds} s`, {
          cause: error,
        });
      }
      // Jitter, so that many who failed together do not come back together.
      const jitter = 0.75 + Math.random() / 2;
      const pauseMs = Math.max(Math.min(retryMs * 2 ** (failures - 1), MAX_PAUSE_MS) * jitter, error.afterMs);
      onRetry?.({ reason: error.message, pauseMs });
      await sleep(pauseMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}
