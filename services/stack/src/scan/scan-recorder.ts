// Scans on their way into the store: written in batches, since on a shared database every transaction waits for its turn.
import type { RecordedScan, RecordOptions, ScanRecord, Store } from '@strata/store';

/** So that whoever waits for an answer waits behind one batch for tens of milliseconds at most, on a database of one's own as well. */
const MAX_AT_ONCE = 64;
/** A scan takes seconds: waiting so long for others costs nothing. */
const LINGER_MS = 20;

interface Waiting {
  readonly scan: ScanRecord;
  readonly resolve: (recorded: RecordedScan) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `record` resolves when the scan is committed, and rejects when it is not. One batch is written at a time; what comes meanwhile
 * is the next. The queue is as long as there are scans under way, since each waits for its own.
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

  /** `isAwaited`: a request waits for it; it goes before the others, with the next batch, and at once when there is none under way. */
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
    // What has gathered while a batch was written has waited enough.
    while (this.#waiting.length > 0) await this.#write(this.#waiting.splice(0, MAX_AT_ONCE));
    this.#isWriting = false;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#store.recordScans(
        batch.map(({ scan }) => scan),
        this.#options,
      );
      for (const [place, { resolve, reject }] of batch.entries()) {
        const result = results[place];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
