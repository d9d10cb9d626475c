// One answer from its plan to its receipt: choices made as places come free, gathered or sent chunk by chunk, then kept in the books.
import {
  type AnswerContent,
  type AnswerHead,
  type ChatChoice,
  type ChatDelta,
  chatChunk,
  type FinishReason,
  type Generation,
  textChunk,
  type Usage,
  usageChunk,
} from '@strata/inference';
import type { StoredKey } from '@strata/store';
import type { Admission } from '../limits/admission.ts';
import type { Limits } from '../limits/limits.ts';
import type { AnswerEnd, AnswerStart, UsageRecorder } from '../store/usage-recorder.ts';
import { AnswerAccumulator } from './answer-accumulator.ts';
import { AnswerSegments } from './answer-segments.ts';
import type { ChoiceUsage, Plan } from './backend.ts';
import type { EventWriter } from './event-writer.ts';
import type { ResponseEvents } from './response-events.ts';

export interface AnswerDeps {
  readonly admission: Admission;
  readonly recorder: UsageRecorder;
  readonly limits: Limits;
  readonly now: () => Date;
  /** Aborted when the service stops and does not wait any longer. */
  readonly stopping: AbortSignal;
  /** Answers whose receipt is not kept yet; the books are open as long. */
  readonly running: Set<Promise<unknown>>;
}

export interface Asked {
  readonly plan: Plan;
  readonly request: Generation;
  readonly head: AnswerHead;
  readonly start: AnswerStart;
  readonly caller: StoredKey;
  /** The client is gone. */
  readonly signal: AbortSignal;
  /** The caller's key is revoked. */
  readonly revoked: AbortSignal;
}

export class AnswerRun {
  /** Of the receipt that is signed when the answer is over. */
  readonly receiptId: string;
  readonly #deps: AnswerDeps;
  readonly #asked: Asked;
  readonly #accumulated: AnswerAccumulator;
  readonly #usages: readonly ChoiceUsage[];
  readonly #workers = new AnswerSegments();
  #firstTokenAt: Date | undefined;
  #hasBegun = false;

  constructor(deps: AnswerDeps, asked: Asked) {
    this.#deps = deps;
    this.#asked = asked;
    this.receiptId = deps.recorder.newId();
    const { isStreamed, topLogprobs } = asked.request;
    this.#accumulated = new AnswerAccumulator(asked.plan.choices.length, {
      keepsLogprobs: !isStreamed && topLogprobs !== undefined,
    });
    this.#usages = asked.plan.choices.map(() => ({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 }));
  }

  /** Every choice, whole, once its receipt is kept. */
  async gather(): Promise<{ readonly choices: readonly ChatChoice[]; readonly usage: Usage }> {
    return this.#kept(async () => {
      await this.#eachChoice(async () => {});
      return { choices: this.#accumulated.choices(), usage: this.usage };
    });
  }

  /** Sends every choice as it comes, then what was asked for besides; `[DONE]` once the receipt is kept. */
  async stream(writer: EventWriter, kind: 'chat.completion.chunk' | 'text_completion'): Promise<void> {
    const { head, request } = this.#asked;
    const hasUsage = request.hasUsageChunk;
    await this.#kept(async () => {
      await this.#eachChoice(async (delta, index) => {
        writer.begin();
        const chunk =
          kind === 'text_completion'
            ? textChunkOf(head, index, { delta, length: this.#accumulated.lengthOf(index) })
            : chatChunk(head, { index, delta, hasUsage });
        if (chunk) await writer.send(chunk);
      });
      if (hasUsage) await writer.send(usageChunk(head, this.usage, kind));
    });
    await writer.send('[DONE]');
  }

  /** Sends the only choice as typed events; the one that ends it once the receipt is kept. */
  async streamEvents(writer: EventWriter, events: ResponseEvents): Promise<void> {
    let reason: FinishReason = 'stop';
    await this.#kept(() =>
      this.#eachChoice(async (delta) => {
        writer.begin();
        if (delta.kind === 'end') reason = delta.reason;
        for (const event of events.take(delta)) await writer.send(event, event.type);
      }),
    );
    const last = events.end(reason, this.usage);
    await writer.send(last, last.type);
  }

  /** A prompt counts once, however many choices are made of it. */
  get usage(): Usage {
    const prompts = new Map<number, { promptTokens: number; cachedTokens: number }>();
    let completionTokens = 0;
    for (const [i, { prompt }] of this.#asked.plan.choices.entries()) {
      const usage = this.#usages[i] as ChoiceUsage;
      completionTokens += usage.completionTokens;
      const known = prompts.get(prompt) ?? { promptTokens: 0, cachedTokens: 0 };
      prompts.set(prompt, {
        promptTokens: Math.max(known.promptTokens, usage.promptTokens),
        cachedTokens: Math.max(known.cachedTokens, usage.cachedTokens),
      });
    }
    const sum = (of: 'promptTokens' | 'cachedTokens') =>
      [...prompts.values()].reduce((total, each) => total + each[of], 0);
    return { promptTokens: sum('promptTokens'), completionTokens, cachedTokens: sum('cachedTokens') };
  }

  /** Choices side by side, as many as there are places; when one fails the others end too. */
  async #eachChoice(hear: (delta: ChatDelta, index: number) => Promise<void>): Promise<void> {
    const { plan, signal, caller, revoked } = this.#asked;
    const failing = new AbortController();
    const stop = AbortSignal.any([signal, revoked, this.#deps.stopping, failing.signal]);
    const numbers = plan.choices.keys();
    const side = Math.min(plan.choices.length, this.#deps.admission.places);
    const runs = Array.from({ length: side }, async () => {
      // Whoever has a place keeps it for the rest: an answer that began is not sent away in its middle.
      using _place = await this.#deps.admission.enter(caller.id, stop, caller.priority);
      for (const index of numbers) await this.#oneChoice(index, stop, hear);
    });
    try {
      await Promise.all(runs);
    } catch (error) {
      failing.abort(error);
      await Promise.allSettled(runs);
      throw error;
    }
  }

  async #oneChoice(
    index: number,
    signal: AbortSignal,
    hear: (delta: ChatDelta, index: number) => Promise<void>,
  ): Promise<void> {
    const usage = this.#usages[index] as ChoiceUsage;
    const context = { caller: this.#asked.caller.id, onSegment: this.#workers.ofChoice(index) };
    for await (const delta of this.#asked.plan.choices[index]?.deltas({ usage, signal, context }) ?? []) {
      this.#accumulated.take(index, delta);
      this.#hasBegun = true;
      if (delta.kind !== 'begin') this.#firstTokenAt ??= this.#deps.now();
      await hear(delta, index);
    }
  }

  /** Does the work and keeps what came of it, whatever came of it. */
  #kept<Result>(work: () => Promise<Result>): Promise<Result> {
    const { running } = this.#deps;
    const run = this.#keepOutcome(work).finally(() => running.delete(run));
    running.add(run);
    return run;
  }

  async #keepOutcome<Result>(work: () => Promise<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await work();
    } catch (error) {
      // What never began used nothing.
      const { signal, revoked } = this.#asked;
      if (this.#hasBegun) await this.#keep(signal.aborted || revoked.aborted ? 'cancelled' : 'failed').catch(() => {});
      // The engine may report the abort as an error of its own.
      throw revoked.aborted ? revoked.reason : error;
    }
    await this.#keep('completed');
    return result;
  }

  #keep(outcome: AnswerEnd['outcome']): Promise<void> {
    const { start, caller } = this.#asked;
    return keep(this.#deps, caller, {
      receiptId: this.receiptId,
      taken: this.#asked.plan.promptTokens,
      start,
      end: {
        outcome,
        content: this.#accumulated.content(),
        finishReasons: this.#accumulated.finishReasons,
        usage: this.usage,
        firstTokenAt: this.#firstTokenAt,
        segments: this.#workers.segments(),
      },
    });
  }
}

/** Signs and keeps the receipt of an answer, and counts what it used against its key. */
export async function keep(
  { recorder, limits }: Pick<AnswerDeps, 'recorder' | 'limits'>,
  caller: StoredKey,
  {
    receiptId,
    start,
    end,
    taken,
  }: {
    readonly receiptId: string;
    readonly start: AnswerStart;
    readonly end: AnswerEnd;
    /** Tokens that were taken for the prompt before. */
    readonly taken: number;
  },
): Promise<void> {
  limits.spend(caller, end.usage, taken);
  await recorder.keep(receiptId, start, end);
}

/** What is kept of embeddings. */
export function embeddingEnd(content: AnswerContent, promptTokens: number): AnswerEnd {
  return {
    outcome: 'completed',
    content,
    finishReasons: [],
    usage: { promptTokens, completionTokens: 0, cachedTokens: 0 },
    firstTokenAt: undefined,
    segments: [],
  };
}

/** `length`: of the choice with this delta. */
function textChunkOf(head: AnswerHead, index: number, { delta, length }: { delta: ChatDelta; length: number }) {
  if (delta.kind === 'text') {
    const { text, logprobs } = delta;
    return textChunk(head, [{ index, text, logprobs, finishReason: null, offset: length - text.length }]);
  }
  if (delta.kind === 'end')
    return textChunk(head, [{ index, text: '', logprobs: undefined, finishReason: delta.reason }]);
  return undefined;
}
