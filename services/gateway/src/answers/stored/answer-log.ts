// The log of a stored answer: everything that its readers need, and the tokens that a gateway which takes it over continues
// from. Each step of a choice adds an entry; the last entry is how the answer ended.
import { addAbortListener } from 'node:events';
import type { Engine, Job, JobContext, JobEvent } from '@strata/engine';
import { type ChatDelta, CompletionError, type Usage } from '@strata/inference';
import type { StoredEnd } from '../../store/answers/stored-writes.ts';

type TokenEvent = Extract<JobEvent, { readonly kind: 'token' }>;
/** Log-probabilities only for a request that asks for them. */
export type StepToken = Omit<TokenEvent, 'kind' | 'logprob'> & Partial<Pick<TokenEvent, 'logprob'>>;
export type AnswerOutcome = 'completed' | 'cancelled' | 'failed';

/** How an answer ended. */
export interface AnswerOver {
  readonly outcome: AnswerOutcome;
  readonly usage: Usage;
  /** Of a failed answer: for its client. */
  readonly error: Pick<CompletionError, 'kind' | 'message' | 'param'> | undefined;
}

/** A step of a choice: what readers get, and the token that it came from, if any. */
export interface AnswerStep {
  readonly choice: number;
  readonly deltas: readonly ChatDelta[];
  readonly token?: StepToken | undefined;
  /** Of the step `begin`. */
  readonly cachedTokens?: number | undefined;
  /** Of the first step with a token. */
  readonly firstTokenAt?: Date | undefined;
}

export type LogEntry = AnswerStep | { readonly over: AnswerOver };

/** How the answer ended, if this is the end. */
export const overIn = (entry: LogEntry | undefined): AnswerOver | undefined =>
  entry && 'over' in entry ? entry.over : undefined;

/** Characters of text and tokens of one answer. */
const MAX_SIZE = 16 * 1024 * 1024;
/** What a step takes in addition to its text. */
const STEP_SIZE = 32;

export interface LogDeps {
  /** Called when there are new entries. */
  readonly onEntries: () => void;
  /** What is not durable yet. Rejects with StoreError `superseded` if another gateway generates the answer. */
  readonly end: () => Promise<StoredEnd>;
  /** Whether an answer that fails for this cause is left to another gateway. Called once; rejects with StoreError. */
  readonly isLeft: (cause: unknown) => Promise<boolean>;
  readonly errorOf: (cause: unknown) => NonNullable<AnswerOver['error']>;
}

export class AnswerLog {
  readonly receiptId: string;
  readonly entries: LogEntry[];
  /** Whether a client has cancelled the answer: then it ends where it is. */
  readonly isCancelled: boolean;
  readonly #deps: LogDeps;
  #size = 0;
  #firstTokenAt: Date | undefined;
  /** Entries that are durable. */
  #stored: number;
  #isClosed = false;
  /** Readers that wait for entries. */
  readonly #waiting = new Set<() => void>();

  /** `entries`: those of an answer that is taken over. */
  constructor(
    deps: LogDeps,
    of: { readonly receiptId: string; readonly entries?: readonly LogEntry[]; readonly isCancelled?: boolean },
  ) {
    this.#deps = deps;
    this.receiptId = of.receiptId;
    this.isCancelled = of.isCancelled ?? false;
    this.entries = [...(of.entries ?? [])];
    // An end is for readers when its receipt is stored too.
    this.#stored = this.entries.length - (this.over ? 1 : 0);
    this.#firstTokenAt = this.#steps().find(({ firstTokenAt }) => firstTokenAt)?.firstTokenAt;
  }

  /** How the answer ended. A gateway can be killed between this and the receipt. */
  get over(): AnswerOver | undefined {
    return overIn(this.entries.at(-1));
  }

  get firstTokenAt(): Date | undefined {
    return this.#firstTokenAt;
  }

  choice(index: number): StoredChoice {
    const before = this.#steps().filter(({ choice }) => choice === index);
    return new StoredChoice({ log: this, index, before, add: (step) => this.#add(step) });
  }

  /**
   * Adds the end, unless the log has one; what is returned with it must be stored with the receipt. Rejects if the answer is
   * left to another gateway.
   */
  async finish({
    outcome: reached,
    usage,
    cause,
  }: Pick<AnswerOver, 'outcome' | 'usage'> & { readonly cause: unknown }) {
    const outcome = reached === 'failed' && this.isCancelled ? 'cancelled' : reached;
    if (outcome === 'failed' && !this.over && (await this.#deps.isLeft(cause))) throw cause;
    const over = this.over ?? { outcome, usage, error: outcome === 'failed' ? this.#errorOf(cause) : undefined };
    if (!this.over) this.entries.push({ over });
    return { over, stored: await this.#deps.end() };
  }

  /** So many entries are durable: readers get them. */
  stored(count: number): void {
    this.#stored = count;
    this.#wake();
  }

  /** Its readers get no more entries. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The entries that readers may have. */
  get readable(): readonly LogEntry[] {
    return this.entries.slice(0, this.#stored);
  }

  /** Entries from a position on, as they become durable, until the log is closed. */
  async *from(position: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    let wake = () => {};
    using _ = addAbortListener(signal, () => wake());
    for (let next = position; !signal.aborted; ) {
      const isClosed = this.#isClosed;
      const available = this.entries.slice(next, this.#stored);
      next += available.length;
      if (available.length > 0) yield available;
      else if (isClosed) return;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        this.#waiting.add(resolve);
        await promise;
        this.#waiting.delete(resolve);
      }
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
  }

  #errorOf(cause: unknown): AnswerOver['error'] {
    const { kind, message, param } = this.#deps.errorOf(cause);
    return { kind, message, param };
  }

  #steps(): AnswerStep[] {
    return this.entries.flatMap((entry) => ('over' in entry ? [] : [entry]));
  }

  #add(step: AnswerStep): void {
    this.#size += STEP_SIZE + (step.token?.bytes.length ?? 0);
    for (const delta of step.deltas) if ('text' in delta) this.#size += delta.text.length;
    if (this.#size > MAX_SIZE) throw new CompletionError('unsupported_value', 'This answer is too long to be stored.');
    this.entries.push({ ...step, firstTokenAt: this.#firstTokenAt ? undefined : step.firstTokenAt });
    this.#firstTokenAt ??= step.firstTokenAt;
    this.#deps.onEntries();
  }
}

interface StoredChoiceDeps {
  readonly log: Pick<AnswerLog, 'isCancelled' | 'over'>;
  readonly index: number;
  readonly before: readonly AnswerStep[];
  readonly add: (step: AnswerStep) => void;
}

/** One choice of a stored answer. */
export class StoredChoice {
  readonly #deps: StoredChoiceDeps;
  #taken = 0;
  #token: StepToken | undefined;
  #cachedTokens: number | undefined;

  constructor(deps: StoredChoiceDeps) {
    this.#deps = deps;
  }

  /** The events of a job: those of the stored tokens, then those of the engine, which continues after them. */
  events(
    engine: Engine,
    job: Job,
    options: { readonly signal: AbortSignal; readonly context: JobContext },
  ): AsyncIterable<JobEvent> {
    const { before, log } = this.#deps;
    const isNew = before.length === 0 && !log.isCancelled && !log.over;
    return isNew ? engine.generate(job, options.signal, options.context) : this.#continued(engine, job, options);
  }

  async *#continued(
    engine: Engine,
    job: Job,
    { signal, context }: { readonly signal: AbortSignal; readonly context: JobContext },
  ): AsyncGenerator<JobEvent> {
    const { before, log } = this.#deps;
    const tokens = before.flatMap(({ token }) => (token ? [token] : []));
    const [first] = before;
    if (first) yield { kind: 'begin', cachedTokens: first.cachedTokens ?? 0 };
    for (const token of tokens) yield { kind: 'token', logprob: 0, ...token };
    const end = before.at(-1)?.deltas.at(-1);
    if (end?.kind === 'end') return yield { kind: 'end', reason: end.reason === 'length' ? 'length' : 'stop' };
    if (log.isCancelled || log.over) throw new CompletionError('invalid_request', 'This answer was cancelled.');
    const given = tokens.map(({ token }) => token);
    for await (const event of engine.generate({ ...job, given }, signal, context))
      if (!first || event.kind !== 'begin') yield event;
  }

  /** What the next step comes from. */
  received(event: JobEvent, { topLogprobs }: Job): void {
    if (event.kind === 'begin') this.#cachedTokens = event.cachedTokens;
    if (event.kind === 'token')
      this.#token = topLogprobs === undefined ? { token: event.token, bytes: event.bytes } : event;
  }

  /** Adds a step to the log, and returns its deltas: of one that the log has already, those that its readers have got. */
  take(deltas: readonly ChatDelta[], firstTokenAt: Date | undefined): readonly ChatDelta[] {
    const { before, index, add } = this.#deps;
    const known = before[this.#taken];
    this.#taken += 1;
    const step = { choice: index, deltas, token: this.#token, cachedTokens: this.#cachedTokens, firstTokenAt };
    this.#token = undefined;
    this.#cachedTokens = undefined;
    if (known) return known.deltas;
    add(step);
    return deltas;
  }
}
