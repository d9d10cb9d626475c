// Answers that clients asked to store: generated whether their clients are connected or not, and read from any gateway of the
// database. An answer whose gateway has ended, or has no worker for it, goes on at the gateway where its client comes back.
//
// Crash states: a kill before the record of the beginning leaves nothing that can go on: the answer is generated already, but
// its client has nothing of it, and no id. After it, the stored tokens are continued; those that were not stored yet, and not
// sent, are generated again. The end of the log is stored with the receipt. Earlier versions stored it before: then the next
// gateway only stores the receipt.
import { setTimeout as sleep } from 'node:timers/promises';
import { serialize } from 'node:v8';
import { isSuperseded } from '@strata/db';
import { CompletionError } from '@strata/inference';
import type { Limits } from '../../limits/limits.ts';
import type { StoredPart } from '../../store/answers/stored-writes.ts';
import type { GatewayStore, StoredState } from '../../store/index.ts';
import { type AnswerDeps, AnswerRun } from '../answer-run.ts';
import { unavailable } from '../models.ts';
import { AnswerCipher } from './answer-cipher.ts';
import { AnswerLog, type LogEntry, overIn } from './answer-log.ts';
import { AnswerRetries } from './answer-retries.ts';
import { entriesIn, readableIn } from './log-parts.ts';
import { LogWriter, type LogWriterDeps, type WrittenLog } from './log-writer.ts';
import { SilentGateways } from './silent-gateways.ts';
import { StoredCleanup } from './stored-cleanup.ts';
import {
  type BegunAnswer,
  continuing,
  findAnswer,
  generationOf,
  isResumable,
  notFound,
  type PlannedAnswer,
  type Reader,
  type RunningAnswer,
  type StoredAnswer,
  type StoredRequest,
} from './stored-request.ts';

export interface StoredAnswersDeps extends Omit<AnswerDeps, 'admission'>, Omit<LogWriterDeps, 'stored'> {
  readonly stored: GatewayStore['stored'];
  readonly limits: Pick<Limits, 'reserveAgain'>;
  /** The model and the plan of a request, to continue its answer. Rejects with CompletionError if that is not possible here. */
  readonly planned: (request: StoredRequest) => Promise<Pick<PlannedAnswer, 'model' | 'plan'>>;
  readonly watch: (keyId: string) => { readonly revoked: AbortSignal; readonly leave: () => void };
  readonly errorOf: (cause: unknown) => CompletionError;
}

/** Interval between reads of an answer that another gateway generates. */
const POLL_MS = 100;
/** An answer that was left can go on at once, at a gateway with workers. */
const RETRY_MS = 1_000;

export class StoredAnswers implements AsyncDisposable {
  readonly #deps: StoredAnswersDeps;
  readonly #writer: LogWriter;
  readonly #running = new Map<string, RunningAnswer>();
  readonly #taking = new Map<string, Promise<void>>();
  readonly #silent = new SilentGateways();
  readonly #retries: AnswerRetries;
  readonly #leaving = new AbortController();
  readonly #ending: AbortSignal;
  readonly #cleanup: StoredCleanup;
  #isStopping = false;

  constructor(deps: StoredAnswersDeps) {
    this.#deps = deps;
    this.#writer = new LogWriter(deps);
    this.#ending = AbortSignal.any([deps.stopping, this.#leaving.signal]);
    this.#retries = new AnswerRetries(this.#ending);
    this.#cleanup = new StoredCleanup({ ...deps, running: () => this.#writer.answers });
  }

  /** Generates the answer. Resolves when a kill cannot lose it any more; rejects if the database refuses it. */
  async start(
    request: StoredRequest,
    { model, plan, reservation, ...reader }: Reader & PlannedAnswer,
  ): Promise<StoredAnswer> {
    const { recorder, stored } = this.#deps;
    const [{ id }, { caller }] = [request.head, reader];
    const [receiptId, cipher] = [recorder.newId(), new AnswerCipher(reader.apiKey, id)];
    const answer = { ...reader, id, receiptId, request, cipher };
    const usage = { promptTokens: plan.promptTokens, completionTokens: 0, cachedTokens: 0 };
    const sealed = cipher.seal(0, serialize(request));
    const added = { id, receiptId, keyId: caller.id, request: sealed, createdAt: stored.now() };
    const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
    const begin = (first?: StoredPart) =>
      recorder.begin(receiptId, request.start, usage, { ...added, first }).then(resolve, (error: unknown) => {
        reject(error);
        throw error;
      });
    const run = { model, plan, reservation, number: 1, entries: [], size: sealed.length, begin };
    // Without effect on one that has begun.
    void this.#run(answer, run).then(() => reject(stopping()));
    await begun;
    this.#cleanup.added(caller.id);
    return answer;
  }

  readonly find = (id: string, reader: Reader) => findAnswer(this.#deps.stored, id, reader);

  /** The entries so far, with the end if the answer is over. */
  async entries(answer: StoredAnswer): Promise<readonly LogEntry[]> {
    for (;;) {
      const running = this.#running.get(answer.id);
      if (running) return running.log.readable;
      const state = await this.#read(answer, 1);
      if (!this.#isAbandoned(answer, state)) return readableIn(state, entriesIn(answer.cipher, state));
      await this.#takeOver(answer);
    }
  }

  /** All entries, as they are added, to the end of the answer, or until the signal aborts. */
  async *follow(answer: StoredAnswer, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    let sent = 0;
    for (let [read, part] = [0, 1]; !signal.aborted; ) {
      const running = this.#running.get(answer.id);
      for await (const entries of running?.log.from(sent, signal) ?? []) {
        sent += entries.length;
        yield entries;
        if (overIn(entries.at(-1))) return;
      }
      if (signal.aborted) return;
      if (running?.left) throw running.left;
      if (this.#ending.aborted) throw stopping();
      const state = await this.#read(answer, part);
      const added = entriesIn(answer.cipher, state);
      const available = readableIn(state, added);
      const fresh = available.slice(Math.max(0, sent - read));
      // An end that is not readable yet is read again, with the part that has it.
      if (available.length >= added.length) {
        read += added.length;
        part += state.parts.length;
      }
      sent += fresh.length;
      if (fresh.length > 0) yield fresh;
      if (!state.owner) return;
      if (this.#isAbandoned(answer, state)) await this.#takeOver(answer);
      // Also after it was taken over: its generation may fail at once.
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Ends an answer where it is; one that is over stays as it is. */
  async cancel(answer: StoredAnswer): Promise<void> {
    for (;;) {
      const running = this.#running.get(answer.id);
      if (running) {
        running.cancel();
        await Array.fromAsync(running.log.from(0, this.#ending));
      }
      const { owner } = await this.#read(answer, 1);
      if (!owner) return;
      this.#ending.throwIfAborted();
      await this.#takeOver(answer, { isCancelled: true });
    }
  }

  /** Cancels it if it runs, and deletes it. */
  async remove(answer: StoredAnswer): Promise<void> {
    await this.cancel(answer);
    await this.#deps.stored.remove(answer.id, answer.caller.id);
  }

  /** From now on an answer that fails is left to another gateway, or to the next start. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Leaves all running answers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    this.#cleanup[Symbol.dispose]();
    this.#leaving.abort(stopping());
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ over }) => over));
    this.#writer[Symbol.dispose]();
  }

  async #read(answer: StoredAnswer, from: number): Promise<StoredState> {
    return (await this.#deps.stored.read(answer.id, answer.caller.id, { from })) ?? Promise.reject(notFound());
  }

  /** Whether no gateway generates an answer that is not over. */
  #isAbandoned({ id }: StoredAnswer, { owner }: StoredState): boolean {
    if (!owner) return false;
    if (owner.gateway === this.#deps.gateway()) return !this.#running.has(id);
    return this.#silent.has(owner);
  }

  /** Several readers of an answer take it over once. */
  #takeOver(answer: StoredAnswer, options: { readonly isCancelled?: boolean } = {}): Promise<void> {
    const { id } = answer;
    const taking = this.#taking.get(id) ?? this.#continue(answer, options).finally(() => this.#taking.delete(id));
    this.#taking.set(id, taking);
    return taking;
  }

  async #continue(answer: StoredAnswer, { isCancelled = false }: { readonly isCancelled?: boolean }): Promise<void> {
    const { stored, gateway, planned, limits, logger } = this.#deps;
    // Before the change of the owner: without its model, or its form, this gateway cannot continue the answer.
    const { model, plan } = await planned(answer.request);
    if (!isCancelled && !model.backend.isReady) throw unavailable(model.id);
    const { owner, parts } = await this.#read(answer, 1);
    if (!owner || this.#running.has(answer.id)) return;
    entriesIn(answer.cipher, { parts });
    const taking = stored.takeOver(answer.receiptId, { from: owner.gateway, to: gateway() });
    // From then on the gateway before can store no more.
    const reading = taking.then((isTaken) => (isTaken ? this.#read(answer, 0) : undefined));
    const read = await reading.catch((error: unknown) => {
      // It may belong to this gateway now: while this one runs, no other one takes it over.
      void this.#resume(answer, { isCancelled });
      throw error;
    });
    if (!read) return;
    const reservation = limits.reserveAgain(answer.caller, plan, answer.request.start.charge);
    if (owner.gateway !== gateway())
      logger.info({ answer: answer.id, gateway: owner.gateway }, 'an answer goes on here');
    const entries = entriesIn(answer.cipher, { parts: read.parts.slice(1) });
    const size = read.parts.reduce((sum, { body }) => sum + body.length, 0);
    void this.#run(answer, { model, plan, reservation, number: read.parts.length, entries, size, isCancelled });
  }

  /** Resolves when the answer has ended, or is left. */
  #run(answer: StoredAnswer, begun: BegunAnswer): Promise<void> {
    const { model, plan, reservation, number, entries, size, isCancelled = false, begin } = begun;
    const { id, receiptId, caller, cipher, request } = answer;
    const { stored, gateway, errorOf, watch, logger } = this.#deps;
    const cancelling = new AbortController();
    const cancel = (cause: Error) => cancelling.abort(cause);
    const isLeft = async (cause: unknown) => {
      if (this.#isStopping || this.#ending.aborted) return true;
      const { kind, message, retryAfterMs = RETRY_MS } = errorOf(cause);
      if (kind !== 'overloaded' || !plan.isContinuable || !isResumable(request)) return false;
      await this.#writer.begun(written);
      if (!(await stored.leave(receiptId, gateway()))) return false;
      running.left = new CompletionError(kind, message, { retryAfterMs, cause });
      return true;
    };
    const log = new AnswerLog(
      {
        onEntries: () => this.#writer.changed(written),
        end: () => this.#writer.end(written),
        ...{ errorOf, isLeft },
      },
      { receiptId, entries, isCancelled },
    );
    const written: WrittenLog = {
      ...{ answer: id, log, cipher, number, entries: entries.length, size, begin, onLost: cancel },
    };
    this.#writer.add(written);
    const running: RunningAnswer = { log, cancel: () => cancel(new CompletionError('invalid_request', 'Cancelled.')) };
    this.#running.set(id, running);
    const { revoked, leave } = watch(caller.id);
    const run = new AnswerRun(
      { ...this.#deps, stopping: this.#ending, admission: model.admission },
      {
        ...{ plan: continuing(plan, entries), reservation, request: generationOf(request), head: request.head },
        ...{ start: request.start, caller, signal: cancelling.signal, revoked, log },
      },
    );
    const isUnended = (error: unknown) => {
      const isOver = overIn(log.readable.at(-1)) !== undefined;
      if (isSuperseded(error) || this.#ending.aborted || (isOver && cancelling.signal.aborted)) return false;
      const what = running.left ? 'a stored answer is left to another gateway' : 'a stored answer failed';
      logger.warn({ requestId: request.start.requestId, err: error }, what);
      // Without a record of its beginning its client has nothing of it.
      return !isOver && !running.left && !written.begin;
    };
    running.over = run
      .write()
      .then(() => false, isUnended)
      .then(async (isResumed) => {
        await written.beginning;
        leave();
        this.#writer.remove(written);
        this.#running.delete(id);
        log.close();
        if (isResumed) void this.#resume(answer, { failed: run, isCancelled: cancelling.signal.aborted });
        else this.#retries.forget(id);
      });
    return running.over;
  }

  /** Goes on with an answer that the database has failed until it is over: its client may never come back here. */
  #resume(answer: StoredAnswer, { failed, isCancelled }: { failed?: AnswerRun; isCancelled: boolean }): Promise<void> {
    return this.#retries.until(answer.id, async () => {
      const { stored } = this.#deps;
      const state = this.#isStopping ? undefined : await stored.read(answer.id, answer.caller.id, { from: 1 });
      if (!state?.owner) {
        this.#retries.forget(answer.id);
        return true;
      }
      // Its receipt is not stored, and the next attempt reserves the tokens again.
      failed?.release?.();
      if (failed) failed.release = undefined;
      if (this.#isAbandoned(answer, state)) await this.#takeOver(answer, { isCancelled });
      return this.#running.has(answer.id);
    });
  }
}

const stopping = () => new CompletionError('overloaded', 'The service is stopping.', { retryAfterMs: RETRY_MS });
