// Whether this worker can serve just now: an engine that does not come back, or receipts that cannot be kept, would make work for nobody.
import { StoreError } from '@strata/store';
import { RequestFailure } from './failure.ts';

export interface FitnessDeps {
  readonly engine: { readonly isReady: boolean };
  /** A clock that only runs forward. */
  readonly nowMs: () => number;
  /** Hears why it cannot, and that it can again (undefined). */
  readonly onChange?: (reason: string | undefined) => void;
}

/** A process that died is back within this, unless the model is large or gone. */
const ENGINE_MS = 2_000;
/** After it the next request is the trial whether receipts can be written again. */
const STORE_MS = 5_000;

export class Fitness {
  readonly #deps: FitnessDeps;
  #engineAwaySinceMs: number | undefined;
  #storeFailedAtMs: number | undefined;
  #told: string | undefined;

  constructor(deps: FitnessDeps) {
    this.#deps = deps;
  }

  /** Why a request is refused; undefined: it is not. */
  trouble(): RequestFailure | undefined {
    const { engine, nowMs, onChange } = this.#deps;
    this.#engineAwaySinceMs = engine.isReady ? undefined : (this.#engineAwaySinceMs ?? nowMs());
    let trouble: RequestFailure | undefined;
    if (this.#engineAwaySinceMs !== undefined && nowMs() - this.#engineAwaySinceMs >= ENGINE_MS)
      trouble = new RequestFailure('engine-failed', 'the engine is being started again');
    else if (this.#storeFailedAtMs !== undefined && nowMs() - this.#storeFailedAtMs < STORE_MS)
      trouble = new RequestFailure('busy', 'receipts cannot be kept just now');
    // Whether a trial goes well is not known yet.
    const isTrial = trouble === undefined && this.#storeFailedAtMs !== undefined;
    if (!isTrial && trouble?.message !== this.#told) {
      this.#told = trouble?.message;
      onChange?.(this.#told);
    }
    return trouble;
  }

  /** Runs what writes a receipt, and heeds whether it could. */
  async keeping<T>(write: () => Promise<T>): Promise<T> {
    try {
      const kept = await write();
      this.#storeFailedAtMs = undefined;
      return kept;
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      this.#storeFailedAtMs = this.#deps.nowMs();
      throw new RequestFailure('busy', 'the receipt cannot be kept', { cause });
    }
  }
}
