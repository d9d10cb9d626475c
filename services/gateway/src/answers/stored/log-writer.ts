// Writes the logs of stored answers to the database, behind their generation: one statement for all that is new, at intervals,
// and at the end of each answer. What a kill loses is generated again from the stored tokens, with the same seed.
import { StoreError } from '@strata/db';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { GatewayStore } from '../../store/store.ts';
import type { AnswerCipher } from './answer-cipher.ts';
import type { AnswerLog } from './answer-log.ts';
import { toValue } from './log-parts.ts';

export interface LogWriterDeps {
  readonly stored: Pick<GatewayStore['stored'], 'append'>;
  /** The id of this gateway. */
  readonly gateway: () => number;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** A log that is being written. */
export interface WrittenLog {
  readonly answer: string;
  readonly log: AnswerLog;
  readonly cipher: AnswerCipher;
  /** Its next part, and its entries in earlier ones. */
  number: number;
  entries: number;
  /** Called when another gateway generates the answer. */
  readonly onSuperseded: (error: StoreError) => void;
}

/** Longer: fewer writes, and more tokens that a kill loses. */
const INTERVAL_MS = 200;

export class LogWriter implements Disposable {
  readonly #deps: LogWriterDeps;
  readonly #logs = new Set<WrittenLog>();
  readonly #failures: FailureLog;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(deps: LogWriterDeps) {
    this.#deps = deps;
    this.#failures = new FailureLog(deps.logger, { what: 'storing answers' });
  }

  add(written: WrittenLog): void {
    this.#logs.add(written);
    this.#timer ??= setInterval(() => {
      this.#write().then(
        () => this.#failures.recovered(),
        (error: unknown) => this.#failures.failed(error),
      );
    }, INTERVAL_MS);
  }

  remove(written: WrittenLog): void {
    this.#logs.delete(written);
    if (this.#logs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Resolves when all entries of a log are durable. Rejects with StoreError `superseded` if another gateway generates the answer. */
  async flush(written: WrittenLog): Promise<void> {
    while (written.entries < written.log.entries.length) {
      if (!this.#logs.has(written)) throw new StoreError('superseded');
      await this.#write();
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** One write at a time. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeNew().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeNew(): Promise<void> {
    const { stored, gateway, now } = this.#deps;
    const parts = [...this.#logs].flatMap((written) => {
      const { answer, log, cipher, number, entries } = written;
      const [added, to] = [log.entries.slice(entries), log.entries.length];
      return added.length === 0 ? [] : [{ written, answer, number, body: cipher.seal(number, added.map(toValue)), to }];
    });
    if (parts.length === 0) return;
    const refused = new Set(await stored.append(parts, gateway(), now()));
    for (const { written, number, to } of parts) {
      if (!refused.has(written.answer)) Object.assign(written, { number: number + 1, entries: to });
      else if (this.#logs.delete(written)) written.onSuperseded(new StoreError('superseded'));
    }
  }
}
