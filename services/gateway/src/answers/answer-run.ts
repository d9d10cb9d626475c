// Runs one answer from its plan to its receipt: choices are generated as slots become free, collected or streamed, then
// recorded.
import { isSuperseded } from '@strata/db';
import type { JobSegment } from '@strata/engine';
import {
  type AnswerHead,
  type ChatChoice,
  type ChatDelta,
  type FinishReason,
  type Generation,
  type RunningUsage,
  type Usage,
  usageChunk,
} from '@strata/inference';
import { abortWith } from '../limits/abort-with.ts';
import { type Admission, runInSlots, SHARES } from '../limits/admission.ts';
import type { Reservation } from '../limits/limits.ts';
import { costOf, type GatewayKey } from '../store/access/policy.ts';
import type { StoredEnd } from '../store/answers/stored-writes.ts';
import { AnswerAccumulator } from './answer-accumulator.ts';
import type { AnsweredBy, Plan } from './backend.ts';
import { ChatChunks, TextChunks } from './chunks.ts';
import type { EventWriter, StreamEvent } from './event-writer.ts';
import type { AnswerEnd, AnswerStart } from './receipts/answer-receipt.ts';
import type { AnswerRecorder } from './receipts/answer-recorder.ts';
import type { ResponseEvents } from './response-events.ts';
import type { AnswerLog, AnswerOutcome } from './stored/answer-log.ts';

export interface AnswerDeps {
  readonly admission: Admission;
  readonly recorder: AnswerRecorder;
  readonly now: () => Date;
  /** Aborts when the service stops and the grace period has ended. */
  readonly stopping: AbortSignal;
  /** Answers whose receipt is not stored yet; the recorder stays open until they end. */
  readonly running: Set<Promise<unknown>>;
}

export interface AnswerRequest {
  readonly plan: Plan;
  /** Settled when the answer ends. */
  readonly reservation: Pick<Reservation, 'settle'>;
  readonly request: Generation;
  readonly head: AnswerHead;
  readonly start: AnswerStart;
  readonly caller: GatewayKey;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Aborts when the key is revoked. */
  readonly revoked: AbortSignal;
  /** Of a stored answer, whose beginning is recorded. */
  readonly log?: AnswerLog;
  /** Called before the first delta of a choice, if several targets could answer. */
  readonly onAnswered?: (by: AnsweredBy) => void;
}

export class AnswerRun {
  /** The id of the receipt that is signed when the answer ends. */
  readonly receiptId: string;
  readonly #deps: AnswerDeps;
  readonly #request: AnswerRequest;
  readonly #accumulated: AnswerAccumulator;
  readonly #usages: readonly RunningUsage[];
  /** By choice; empty for a model with one target. */
  readonly #answeredBy: AnsweredBy[] = [];
  #firstTokenAt: Date | undefined;
  #hasBegun = false;
  /** Releases the tokens of an answer whose receipt the database has refused. Do not call it if the receipt may be stored. */
  release: (() => void) | undefined;
  /** The record of the beginning of a stream. */
  #beginning: Promise<void> | undefined;
  /** Events of a stream without such a record, to be sent after its receipt is stored. */
  readonly #held: StreamEvent[] = [];

  constructor(deps: AnswerDeps, request: AnswerRequest) {
    this.#deps = deps;
    this.#request = request;
    this.receiptId = request.log?.receiptId ?? deps.recorder.newId();
    this.#firstTokenAt = request.log?.firstTokenAt;
    if (request.log) this.#beginning = Promise.resolve();
    const { isStreamed, topLogprobs } = request.request;
    this.#accumulated = new AnswerAccumulator(request.plan.choices.length, {
      keepsLogprobs: !isStreamed && topLogprobs !== undefined,
    });
    this.#usages = request.plan.choices.map(() => ({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 }));
  }

  /** All choices, complete, after the receipt is stored. */
  async gather(): Promise<{ readonly choices: readonly ChatChoice[]; readonly usage: Usage }> {
    return this.#recorded(async () => {
      await this.#eachChoice(async () => {});
      return { choices: this.#accumulated.choices(), usage: this.usage };
    });
  }

  /**
   * Generates all choices into the log of a stored answer, after what it has already. Its end is stored with its receipt.
   * An answer that is not recorded, because the gateway stops, can go on at another one.
   */
  async write(): Promise<void> {
    await this.#recorded(() => this.#eachChoice(async () => {}));
  }

  /** Streams all choices, then the usage if requested; `[DONE]` follows after the receipt is stored. */
  async stream(writer: EventWriter, kind: 'chat.completion.chunk' | 'text_completion'): Promise<void> {
    const { head, request } = this.#request;
    const hasUsage = request.hasUsageChunk;
    const chunks = kind === 'text_completion' ? new TextChunks(head) : new ChatChunks(head, { hasUsage });
    await this.#recorded(async () => {
      await this.#eachChoice((deltas, index) => this.#send(writer, chunks.of(deltas, index)));
      if (hasUsage) await this.#send(writer, [usageChunk(head, this.usage, kind)]);
    });
    await writer.send(...this.#held, '[DONE]');
  }

  /** Streams the only choice as typed events; the last event follows after the receipt is stored. */
  async streamEvents(writer: EventWriter, events: ResponseEvents): Promise<void> {
    let reason: FinishReason = 'stop';
    await this.#recorded(() =>
      this.#eachChoice((deltas) => {
        const last = deltas.at(-1);
        if (last?.kind === 'end') reason = last.reason;
        const taken = deltas.flatMap((delta) => events.take(delta));
        return this.#send(writer, taken);
      }),
    );
    await writer.send(...this.#held, events.end(reason, this.usage));
  }

  /** A prompt counts once for all of its choices. */
  get usage(): Usage {
    const [only, second] = this.#usages;
    if (only && !second) {
      const { promptTokens, completionTokens, reasoningTokens = 0 } = only;
      return {
        promptTokens,
        completionTokens,
        cachedTokens: Math.min(only.cachedTokens, promptTokens),
        reasoningTokens,
      };
    }
    const prompts = new Map<number, { promptTokens: number; cachedTokens: number }>();
    let completionTokens = 0;
    let reasoningTokens = 0;
    for (const [i, { prompt }] of this.#request.plan.choices.entries()) {
      const usage = this.#usages[i] as RunningUsage;
      completionTokens += usage.completionTokens;
      reasoningTokens += usage.reasoningTokens ?? 0;
      const known = prompts.get(prompt) ?? { promptTokens: 0, cachedTokens: 0 };
      prompts.set(prompt, {
        promptTokens: Math.max(known.promptTokens, usage.promptTokens),
        cachedTokens: Math.max(known.cachedTokens, usage.cachedTokens),
      });
    }
    // An engine may count a continued answer as cached too, and an upstream may report anything.
    const sum = (of: 'promptTokens' | 'cachedTokens') =>
      [...prompts.values()].reduce((total, each) => total + Math.min(each[of], each.promptTokens), 0);
    return { promptTokens: sum('promptTokens'), completionTokens, cachedTokens: sum('cachedTokens'), reasoningTokens };
  }

  /** Generates choices in order, as many concurrently as there are slots; if one fails, the rest are aborted. */
  async #eachChoice(onDeltas: OnDeltas): Promise<void> {
    const { plan, signal, caller, revoked } = this.#request;
    const { admission, stopping } = this.#deps;
    const ending = new AbortController();
    using _following = abortWith(ending, { own: [signal, revoked], shared: stopping });
    await runInSlots(plan.choices.length, { admission, caller, signal: ending.signal }, (index, stop) =>
      this.#oneChoice(index, stop, onDeltas),
    );
  }

  async #oneChoice(index: number, signal: AbortSignal, onDeltas: OnDeltas): Promise<void> {
    const usage = this.#usages[index] as RunningUsage;
    const onSegment = (segment: JobSegment) => this.#accumulated.takeSegment(index, segment);
    const context = { caller: this.#request.caller.id, onSegment };
    const stored = this.#request.log?.choice(index);
    const onAnswered = (by: AnsweredBy) => {
      this.#answeredBy[index] = by;
      this.#request.onAnswered?.(by);
    };
    const share = SHARES[this.#request.caller.priority];
    const deps = { usage, signal, context, stored, share, onAnswered };
    const isStreamed = stored !== undefined || this.#request.request.isStreamed;
    for await (const made of this.#request.plan.choices[index]?.deltas(deps) ?? []) {
      if (made.some(({ kind }) => kind !== 'begin') && (isStreamed || !this.#arrivedAtOnce(made)))
        this.#firstTokenAt ??= this.#deps.now();
      const deltas = stored?.take(made, this.#firstTokenAt) ?? made;
      if (deltas.length === 0) continue;
      for (const delta of deltas) this.#accumulated.take(index, delta);
      this.#hasBegun = true;
      if (!stored && isStreamed && !this.#arrivedAtOnce(deltas)) await this.#recordBeginning();
      await onDeltas(deltas, index);
    }
  }

  /** Whether these are all deltas of the answer: its receipt takes no longer than a record of its beginning. */
  #arrivedAtOnce(deltas: readonly ChatDelta[]): boolean {
    const isFirst = this.#beginning === undefined && this.#request.plan.choices.length === 1;
    return isFirst && deltas.at(-1)?.kind === 'end';
  }

  /** Resolves when the beginning is durable: a stream that the client received has a receipt even if the process is killed. */
  #recordBeginning(): Promise<void> {
    this.#beginning ??= this.#deps.recorder.begin(this.receiptId, this.#request.start, this.usage);
    return this.#beginning;
  }

  async #send(writer: EventWriter, events: readonly StreamEvent[]): Promise<void> {
    if (this.#beginning) await writer.send(...events);
    else this.#held.push(...events);
  }

  /** Runs the work and records its outcome, including failures. */
  #recorded<Result>(work: () => Promise<Result>): Promise<Result> {
    const { running } = this.#deps;
    const run = this.#recordOutcome(work);
    const over = () => void running.delete(run);
    running.add(run);
    run.then(over, over);
    return run;
  }

  async #recordOutcome<Result>(work: () => Promise<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await work();
    } catch (error) {
      const { signal, revoked, reservation, log } = this.#request;
      const isAborted = signal.aborted || revoked.aborted;
      this.#countPrompt();
      if (log) {
        // An engine that fails before it has answered anything has no usage.
        if (log.entries.length === 0 && !isAborted) for (const usage of this.#usages) Object.assign(usage, NO_USAGE);
        await this.#endStored(log, isAborted ? 'cancelled' : 'failed', error);
        throw error;
      }
      // Once a choice has its slot its prompt counts, also if the client leaves before the first token. An engine that
      // fails before it has answered nothing.
      if (this.#hasBegun || (isAborted && this.usage.promptTokens > 0))
        await this.#record(isAborted ? 'cancelled' : 'failed').catch(() => {});
      else {
        reservation.settle(0);
        const outcome = isAborted ? 'cancelled' : 'failed';
        this.#deps.recorder.unanswered(this.#request.start, { ...this.#end(outcome), usage: NO_USAGE });
      }
      // The engine may report the abort as its own error.
      throw revoked.aborted ? revoked.reason : error;
    }
    const { log } = this.#request;
    if (log) await this.#endStored(log, 'completed');
    else await this.#record('completed');
    return result;
  }

  /** Upstreams report the tokens of the prompt at the end: of an answer that breaks off before, the estimate counts. */
  #countPrompt(): void {
    const [first] = this.#usages;
    if (first && this.#hasBegun && this.usage.promptTokens === 0) first.promptTokens = this.#request.plan.promptTokens;
  }

  /** Without effect on an answer that another gateway has taken over, or can take over because this one stops. */
  async #endStored(log: AnswerLog, outcome: AnswerOutcome, cause?: unknown): Promise<void> {
    const { over, stored } = await log.finish({ outcome, usage: this.usage, cause }).catch((error: unknown) => {
      this.#request.reservation.settle(0);
      throw error;
    });
    await this.#record(over.outcome, stored);
    log.stored(log.entries.length);
  }

  #end(outcome: AnswerEnd['outcome']): AnswerEnd {
    const { usage } = this;
    return {
      ...{ outcome, usage, content: this.#accumulated.content(), finishReasons: this.#accumulated.finishReasons },
      ...{ firstTokenAt: this.#firstTokenAt, segments: this.#accumulated.segments },
      answeredBy: this.#answeredBy.filter((by) => by !== undefined),
    };
  }

  async #record(outcome: AnswerEnd['outcome'], stored?: StoredEnd): Promise<void> {
    const { start, reservation } = this.#request;
    const { usage } = this;
    const micros = costOf(start.charge?.price ?? null, usage);
    const endedAt = this.#deps.now();
    const release = reservation.settle(usage.promptTokens + usage.completionTokens, micros, endedAt);
    const isBegun = this.#beginning !== undefined;
    const kept = this.#deps.recorder.keep(this.receiptId, start, this.#end(outcome), { isBegun, stored, endedAt });
    await kept.catch((error: unknown) => {
      // The gateway that has ended the answer counts it.
      if (isSuperseded(error)) release();
      else this.release = release;
      throw error;
    });
  }
}

const NO_USAGE: Usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

type OnDeltas = (deltas: readonly ChatDelta[], index: number) => Promise<void>;
