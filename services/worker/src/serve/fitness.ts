// Whether this worker can serve requests at present: without a running engine, or if receipts cannot be stored,
// requests are rejected.
import { StoreError } from '@strata/db';
import { RequestFailure } from './failure.ts';

export interface FitnessDeps {
  readonly engine: { readonly isReady: boolean };
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Called with the reason when the worker becomes unable to serve, and with undefined when it recovers. */
  readonly onChange?: (reason: string | undefined) => void;
}

/** A crashed engine process restarts within this time, unless the model is large or its file is missing. */
const ENGINE_MS = 2_000;
/** After this time the next request tests whether receipts can be stored again. */
const STORE_MS = 5_000;

export class Fitness {
  readonly #deps: FitnessDeps;
  #engineDownSinceMs: number | undefined;
  #storeFailedAtMs: number | undefined;
  #reported: string | undefined;

  constructor(deps: FitnessDeps) {
    this.#deps = deps;
  }

  /** The reason for rejecting requests; undefined if they are accepted. */
  failure(): RequestFailure | undefined {
    const { engine, nowMs, onChange } = this.#deps;
    this.#engineDownSinceMs = engine.isReady ? undefined : (this.#engineDownSinceMs ?? nowMs());
    let failure: RequestFailure | undefined;
    if (this.#engineDownSinceMs !== undefined && nowMs() - this.#engineDownSinceMs >= ENGINE_MS)
      failure = new RequestFailure('engine-failed', 'the engine is restarting');
    else if (this.#storeFailedAtMs !== undefined && nowMs() - this.#storeFailedAtMs < STORE_MS)
      failure = new RequestFailure('busy', 'receipts cannot be stored at present');
    // The outcome of a test request is not known yet.
    const isTrial = failure === undefined && this.#storeFailedAtMs !== undefined;
    if (!isTrial && failure?.message !== this.#reported) {
      this.#reported = failure?.message;
      onChange?.(this.#reported);
    }
    return failure;
  }

  /** Stores a receipt, and records whether that succeeded. */
  async keeping<T>(write: () => Promise<T>): Promise<T> {
    try {
      const kept = await write();
      this.#storeFailedAtMs = undefined;
      return kept;
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      this.#storeFailedAtMs = this.#deps.nowMs();
      throw new RequestFailure('busy', 'the receipt cannot be stored', { cause });
    }
  }
}
