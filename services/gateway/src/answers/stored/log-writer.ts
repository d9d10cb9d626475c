// Writes the logs of stored answers to the database: one statement for all that is new, at intervals. Readers get what is
// durable, so that what a kill loses was not sent: it is generated again from the stored tokens, with the same seed. The
// beginnings of answers are written with their first tokens: until then a client has nothing of them, not even the id.
import { StoreError } from '@strata/db';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { StoredEnd, StoredPart } from '../../store/answers/stored-writes.ts';
import type { GatewayStore } from '../../store/store.ts';
import type { AnswerCipher } from './answer-cipher.ts';
import type { AnswerLog } from './answer-log.ts';
import { bytesOf } from './log-parts.ts';

export interface LogWriterDeps {
  readonly stored: Pick<GatewayStore['stored'], 'append'>;
  /** The id of this gateway. */
  readonly gateway: () => number;
  readonly logger: Logger;
}

/** Entries as they are stored, and the number of those up to its end. */
interface Part extends StoredPart {
  readonly to: number;
}

/** A log that is being written. */
export interface WrittenLog {
  readonly answer: string;
  readonly log: AnswerLog;
  readonly cipher: AnswerCipher;
  /** Its next part, its entries in earlier ones, and the characters of these. */
  number: number;
  entries: number;
  size: number;
  /** Part whose write failed: it may be stored, so it is written again as it was. */
  failed?: Part | undefined;
  /** Records the beginning, with what there is already; undefined when that is durable. Called once. */
  begin?: ((first: StoredPart | undefined) => Promise<void>) | undefined;
  /** While that is being recorded. */
  beginning?: Promise<void> | undefined;
  /** StoreError: `superseded` if another gateway generates the answer; another one if its beginning was not recorded. */
  lost?: Error;
  /** Called then. */
  readonly onLost: (error: Error) => void;
}

/** Longer: fewer writes, and larger groups of tokens at once. The first write after a quiet time is not delayed. */
const INTERVAL_MS = 100;
/** Lets answers that begin or end together share a write. */
const FIRST_MS = 5;

export class LogWriter implements Disposable {
  readonly #deps: LogWriterDeps;
  readonly #logs = new Map<string, WrittenLog>();
  /** Those with entries to write. */
  readonly #changed = new Set<WrittenLog>();
  readonly #failures: FailureLog;
  #timer: NodeJS.Timeout | undefined;
  #wroteAtMs = 0;
  #writing: Promise<void> | undefined;

  constructor(deps: LogWriterDeps) {
    this.#deps = deps;
    this.#failures = new FailureLog(deps.logger, { what: 'storing answers' });
  }

  add(written: WrittenLog): void {
    this.#logs.set(written.answer, written);
    if (written.begin) this.changed(written);
  }

  /** Resolves when the beginning is durable. Rejects with StoreError if it was not recorded, or if the log is lost. */
  async begun(written: WrittenLog): Promise<void> {
    await this.#writing;
    if (written.begin) await this.#begin(written, undefined);
    if (written.lost) throw written.lost;
  }

  /** Answers that are being written. */
  get answers(): readonly string[] {
    return [...this.#logs.keys()];
  }

  /** Schedules a write of what is new in a log. */
  changed(written: WrittenLog): void {
    this.#changed.add(written);
    if (this.#timer || this.#writing) return;
    this.#schedule(Math.max(FIRST_MS, this.#wroteAtMs + INTERVAL_MS - performance.now()));
  }

  remove(written: WrittenLog): void {
    this.#changed.delete(written);
    if (this.#logs.get(written.answer) === written) this.#logs.delete(written.answer);
  }

  /**
   * Removes the log, and returns what of it is not written yet. Rejects with StoreError: `superseded` if another gateway
   * generates the answer, or because a part cannot be written again.
   */
  async end(written: WrittenLog): Promise<StoredEnd> {
    this.#changed.delete(written);
    await this.begun(written);
    this.#changed.delete(written);
    if (written.failed) await this.#append([{ written, part: written.failed }]);
    if (written.lost) throw written.lost;
    this.remove(written);
    const part = this.#partOf(written);
    return {
      ...{ answer: written.answer, part },
      size: written.size + (part?.body.length ?? 0),
    };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#wroteAtMs = performance.now();
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        if (this.#changed.size > 0) this.#schedule(Math.max(0, this.#wroteAtMs + INTERVAL_MS - performance.now()));
      });
    }, ms);
  }

  /** Never rejects: what was not written is written later. */
  async #write(): Promise<void> {
    const changed = [...this.#changed].filter(({ beginning }) => !beginning);
    for (const written of changed) this.#changed.delete(written);
    // Nothing waits for beginnings of other answers: they are recorded after the receipts before them.
    for (const written of changed) if (written.begin) void this.#begin(written, this.#partOf(written));
    await this.#writeParts(changed.filter(({ begin }) => !begin));
  }

  /** Never rejects. */
  #begin(written: WrittenLog, first: Part | undefined): Promise<void> {
    const record = async () => {
      try {
        await written.begin?.(first);
        Object.assign(written, { begin: undefined, beginning: undefined });
        if (first) this.#stored(written, first);
      } catch (error) {
        this.#lose(written, error as Error);
      }
    };
    written.beginning ??= record();
    return written.beginning;
  }

  async #writeParts(changed: readonly WrittenLog[]): Promise<void> {
    const parts = changed.flatMap((written) => {
      const part = this.#partOf(written);
      return part ? [{ written, part }] : [];
    });
    if (parts.length === 0) return;
    try {
      await this.#append(parts);
      this.#failures.recovered();
    } catch (error) {
      this.#failures.failed(error);
      for (const { written, part } of parts) {
        written.failed = part;
        if (this.#logs.get(written.answer) === written) this.#changed.add(written);
      }
    }
  }

  async #append(parts: readonly { readonly written: WrittenLog; readonly part: Part }[]): Promise<void> {
    const { stored, gateway } = this.#deps;
    const refused = new Set(
      await stored.append(
        parts.map(({ part }) => part),
        gateway(),
      ),
    );
    for (const { written, part } of parts) {
      if (refused.has(written.answer)) {
        this.#lose(written, new StoreError('superseded'));
        continue;
      }
      this.#stored(written, part);
    }
  }

  #lose(written: WrittenLog, error: Error): void {
    this.remove(written);
    written.lost = error;
    written.onLost(error);
  }

  #stored(written: WrittenLog, part: Part): void {
    const [number, size] = [part.number + 1, written.size + part.body.length];
    Object.assign(written, { number, entries: part.to, size, failed: undefined });
    written.log.stored(part.to);
    // Of a part that was written again: what came since.
    if (part.to < written.log.entries.length) this.changed(written);
  }

  #partOf(written: WrittenLog): Part | undefined {
    const { answer, log, cipher, number, entries, failed } = written;
    if (failed) return failed;
    const [added, to] = [log.entries.slice(entries), log.entries.length];
    return added.length === 0 ? undefined : { answer, number, body: cipher.seal(number, bytesOf(added)), to };
  }
}
