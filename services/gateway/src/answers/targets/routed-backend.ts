// Backend over several targets: tries one after the other until one begins to answer. What has begun is not tried again: the
// client has its first tokens.
import type { ChatDelta, ChatRequest, CompletionRequest, Verified } from '@strata/inference';
import { CompletionError, weakest } from '@strata/inference';
import {
  type AnsweredBy,
  answerTokens,
  type Backend,
  type BackendFacts,
  type ChoiceDeps,
  type EmbeddingPlan,
  type Plan,
} from '../backend.ts';
import { CLAIMED, estimatedTokens } from '../upstream-backend.ts';
import { chooseTarget, type Groups } from './choose-target.ts';
import { type Fault, faultOf } from './fault.ts';
import type { Caller, Target } from './target.ts';

export type TargetEvent =
  | { readonly kind: 'attempt' | 'fallback' | 'cooldown'; readonly target: string }
  | { readonly kind: 'failure'; readonly target: string; readonly reason: Fault['reason']; readonly error: unknown };

export interface RouteOptions {
  readonly id: string;
  readonly groups: Groups<Target>;
  /** Reasons for which the next target is tried. */
  readonly on: ReadonlySet<Fault['reason']>;
}

export interface RouteDeps {
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly onEvent: (event: TargetEvent) => void;
}

/** No attempt begins later after the first one, so that a request is answered or refused in bounded time. */
const BEGIN_WITHIN_MS = 120_000;
const RETRY_MS = 1_000;

/** What is asked of each target. */
interface Asking<Item> {
  readonly items: (backend: Backend, target: Target) => AsyncIterable<Item>;
  /** Whether it is a part of the answer that cannot be taken back. */
  readonly isAnswer: (item: Item) => boolean;
  readonly signal: AbortSignal;
  readonly caller: Caller;
  readonly sticky?: string | undefined;
  readonly onAnswered?: ((by: AnsweredBy) => void) | undefined;
}

export class RoutedBackend implements Backend {
  readonly #options: RouteOptions;
  readonly #deps: RouteDeps;
  readonly targets: readonly Target[];

  constructor(options: RouteOptions, deps: RouteDeps) {
    this.#options = options;
    this.#deps = deps;
    this.targets = [...new Set(options.groups.flat().map(({ target }) => target))];
  }

  /** What holds for all targets that are known. */
  get facts(): BackendFacts {
    const all = this.targets.flatMap(({ current }) => (current ? [current.facts] : []));
    const common = <Key extends keyof BackendFacts>(key: Key) => {
      const values = new Set(all.map((facts) => facts[key]));
      const [value] = values;
      return values.size === 1 && value !== undefined && all.length === this.targets.length ? value : null;
    };
    const contexts = all.flatMap(({ contextLength }) => contextLength ?? []);
    return {
      name: this.#options.id,
      engine: [...new Set(all.map(({ engine }) => engine))].join(', ').slice(0, 100) || 'unknown',
      ...{ sha256: common('sha256'), parameters: common('parameters'), quantisation: common('quantisation') },
      sizeBytes: common('sizeBytes'),
      contextLength: contexts.length > 0 ? Math.min(...contexts) : null,
      slots: this.targets.reduce((sum, { slots }) => sum + slots, 0),
    };
  }

  get verified(): Verified {
    const known = this.targets.map(({ current }) => current?.verified ?? CLAIMED);
    return weakest(known) ?? CLAIMED;
  }

  get isReady(): boolean {
    return this.targets.some(({ upstream, current }) => upstream !== null || current?.isReady);
  }

  get isLoaded(): boolean | null {
    const [first] = this.targets;
    return first?.current?.isLoaded ?? null;
  }

  async planChat(request: ChatRequest): Promise<Plan> {
    const planOf = plansOf((backend) => backend.planChat(request));
    return {
      promptTokens: estimatedTokens(request),
      answerTokens: answerTokens(request),
      choices: Array.from({ length: request.choices }, (_, index) => ({
        prompt: 0,
        deltas: (deps) => this.#deltas(planOf, index, { ...deps, sticky: request.cacheKey }),
      })),
    };
  }

  async planText(request: CompletionRequest): Promise<Plan> {
    const planOf = plansOf((backend) => backend.planText(request));
    const { prompts, choices } = request;
    return {
      promptTokens: prompts.reduce((sum, prompt) => sum + estimatedTokens(prompt), 0),
      answerTokens: answerTokens(request, { prompts: prompts.length }),
      choices: Array.from({ length: prompts.length * choices }, (_, index) => ({
        prompt: Math.floor(index / choices),
        deltas: (deps) => this.#deltas(planOf, index, { ...deps, sticky: request.cacheKey }),
      })),
    };
  }

  /** Only targets with the model's name of the first one: vectors of two models have nothing in common. */
  async planEmbeddings(inputs: readonly (string | readonly number[])[]): Promise<EmbeddingPlan> {
    const [first] = this.targets;
    const groups = this.#options.groups.map((group) => group.filter(({ target }) => target.model === first?.model));
    return {
      promptTokens: inputs.reduce((sum, input) => sum + estimatedTokens(input), 0),
      parts: [
        async (usage, signal, onAnswered) => {
          const before = usage.promptTokens;
          const items = async function* (backend: Backend) {
            usage.promptTokens = before;
            const { parts } = await backend.planEmbeddings(inputs);
            const vectors: Float32Array[] = [];
            for (const part of parts) vectors.push(...(await part(usage, signal)));
            yield vectors;
          };
          const asking = { items, isAnswer: () => true, signal, caller: { id: '' }, onAnswered };
          const [vectors = []] = await Array.fromAsync(this.#tried(asking, groups));
          return vectors;
        },
      ],
    };
  }

  #deltas(
    planOf: (backend: Backend) => Promise<Plan>,
    index: number,
    { sticky, ...deps }: ChoiceDeps & { readonly sticky: string | undefined },
  ): AsyncIterable<readonly ChatDelta[]> {
    const { usage, context, signal } = deps;
    const items = async function* (backend: Backend) {
      // What an attempt without an answer used is not the client's.
      Object.assign(usage, { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: undefined });
      const plan = await planOf(backend);
      yield* plan.choices[index]?.deltas({ ...deps, stored: undefined }) ?? [];
    };
    const isAnswer = (deltas: readonly ChatDelta[]) => deltas.some(({ kind }) => kind !== 'begin');
    return this.#tried({
      ...{ items, isAnswer, signal, sticky },
      ...{ caller: { id: context.caller ?? '', share: deps.share }, onAnswered: deps.onAnswered },
    });
  }

  /** The items of the first target that answers. Throws its error, or that of the targets that did not answer. */
  async *#tried<Item>(asking: Asking<Item>, groups = this.#options.groups): AsyncGenerator<Item> {
    const { nowMs, random, onEvent } = this.#deps;
    const tried = new Set<Target>();
    const failures: Failure[] = [];
    const firstAtMs = nowMs();
    let isLast = false;
    while (!isLast && nowMs() - firstAtMs <= BEGIN_WITHIN_MS) {
      const chosen = chooseTarget(groups, { tried, random, nowMs: nowMs(), sticky: asking.sticky });
      if (!chosen) break;
      const { target } = chosen;
      isLast = chosen.isLastResort;
      tried.add(target);
      onEvent({ kind: 'attempt', target: target.name });
      const attempt = target.health.begin(nowMs());
      let hasAnswered = false;
      try {
        using opened = await target.open(asking.caller, asking.signal);
        const { backend } = opened;
        const held: Item[] = [];
        for await (const item of asking.items(backend, target)) {
          if (!hasAnswered && !asking.isAnswer(item)) {
            held.push(item);
            continue;
          }
          if (!hasAnswered) {
            hasAnswered = true;
            attempt.answered(nowMs());
            if (tried.size > 1) onEvent({ kind: 'fallback', target: target.name });
            asking.onAnswered?.(answeredBy(target, backend, tried.size));
            yield* held;
          }
          yield item;
        }
        attempt.ended();
        return;
      } catch (error) {
        const fault = asking.signal.aborted ? undefined : faultOf(error);
        if (!fault || !this.#options.on.has(fault.reason)) throw error;
        onEvent({ kind: 'failure', target: target.name, reason: fault.reason, error });
        if (attempt.failed(fault, nowMs())) onEvent({ kind: 'cooldown', target: target.name });
        if (hasAnswered) throw error;
        failures.push({ target: target.name, error, fault });
      } finally {
        attempt.release();
      }
    }
    throw outcomeOf(failures);
  }
}

/** Of one request: each backend plans once, for all choices. */
function plansOf(plan: (backend: Backend) => Promise<Plan>): (backend: Backend) => Promise<Plan> {
  const plans = new Map<Backend, Promise<Plan>>();
  return (backend) => {
    const planned = plans.get(backend) ?? plan(backend);
    plans.set(backend, planned);
    return planned;
  };
}

function answeredBy({ upstream, model }: Target, { facts, verified }: Backend, attempts: number): AnsweredBy {
  const { sha256, engine } = facts;
  return { upstream, model, verified, sha256, engine, attempts };
}

interface Failure {
  /** Its name, which has no address. */
  readonly target: string;
  readonly error: unknown;
  readonly fault: Fault;
}

/** If one is only busy, the client can wait for it; otherwise the last error, of a failed server with all reasons. */
function outcomeOf(failures: readonly Failure[]): unknown {
  const waits = failures.flatMap(({ fault }) => (fault.reason === 'busy' ? [fault.retryAfterMs ?? RETRY_MS] : []));
  const last = failures.at(-1);
  if (!last) return new CompletionError('overloaded', NONE, { retryAfterMs: RETRY_MS });
  const isBusy = waits.length > 0;
  if (!isBusy && !UNEXPLAINED.has(last.fault.reason)) return last.error;
  const reasons = failures.map(({ target, fault }) => `${target} (${fault.reason})`).join(', ');
  return new CompletionError(isBusy ? 'overloaded' : 'engine_failed', `No server of this model answered: ${reasons}.`, {
    retryAfterMs: isBusy ? Math.min(...waits) : RETRY_MS,
    cause: last.error,
  });
}

/** Errors whose own message to the client does not say what happened. */
const UNEXPLAINED: ReadonlySet<Fault['reason']> = new Set(['connect', 'timeout', 'failed']);
const NONE = 'No server of this model is available at present.';
