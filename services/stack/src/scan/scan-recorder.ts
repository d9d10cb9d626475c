// Writes scans to the store in batches, since each transaction waits for a lock on a shared database.
import type { RecordedScan, RecordOptions, ScanRecord, Store } from '../store/index.ts';

/** Limits a batch, and so the wait of a request behind it, to tens of milliseconds. */
const MAX_AT_ONCE = 64;
/** Time to collect a batch; negligible against the seconds of a scan. */
const LINGER_MS = 20;

interface Waiting {
  readonly scan: ScanRecord;
  readonly resolve: (recorded: RecordedScan) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `record` resolves when the scan is committed, and rejects if it is not. One batch is written at a time; scans that arrive during a write
 * form the next one. The number of concurrent scans bounds the queue, since each waits for its own record.
 */
export class ScanRecorder {
  readonly #store: Pick<Store, 'recordScans'>;
  readonly #options: RecordOptions;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Pick<Store, 'recordScans'>, options: RecordOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** `isAwaited`: a request waits for it; the scan is first in the next batch, which is written immediately if no write is in progress. */
  record(scan: ScanRecord, { isAwaited }: { readonly isAwaited: boolean }): Promise<RecordedScan> {
    return new Promise((resolve, reject) => {
      const waiting = { scan, resolve, reject };
      if (isAwaited) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
      if (isAwaited || this.#waiting.length >= MAX_AT_ONCE) void this.#writeAll();
      else this.#timer ??= setTimeout(() => void this.#writeAll(), LINGER_MS);
    });
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWriting) return;
    this.#isWriting = true;
    // Scans collected during a write are written without delay.
    while (this.#waiting.length > 0) await this.#write(this.#waiting.splice(0, MAX_AT_ONCE));
    this.#isWriting = false;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#store.recordScans(
        batch.map(({ scan }) => scan),
        this.#options,
      );
      for (const [position, { resolve, reject }] of batch.entries()) {
        const result = results[position];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
