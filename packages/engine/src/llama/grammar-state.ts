// The state of an answer in its grammar: which tokens are allowed next. Given tokens can be replayed through it.
import { grammarProblem } from '@strata/inference';
import { type Llama, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import { EngineError } from '../engine.ts';
import type { GrammarWatchdog } from '../process/grammar-watchdog.ts';

/**
 * These two calls are not public in node-llama-cpp (its version is pinned, and a test replays a grammar): the public
 * API accepts a token only while it samples one, but a resumed answer has tokens that another engine sampled.
 */
interface SamplerBinding {
  canBeNextTokenForGrammarEvaluationState(state: object, token: number): boolean;
  acceptGrammarEvaluationStateToken(state: object, token: number): void;
}

interface GrammarDeps {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly watchdog: GrammarWatchdog;
  /** Number of the call that uses it. */
  readonly call: number;
}

/** Time budget of one grammar, during which the engine serves no other answer: initial, and added for each token. */
const MAX_MS = 2_000;
const MAX_MS_PER_TOKEN = 50;

export class GrammarState {
  readonly #deps: GrammarDeps;
  readonly #sampler: SamplerBinding;
  readonly #state: object;
  #leftMs = MAX_MS;

  private constructor(deps: GrammarDeps, state: object) {
    const { _bindings } = deps.llama as unknown as { readonly _bindings: { readonly AddonSampler: SamplerBinding } };
    this.#deps = deps;
    this.#sampler = _bindings.AddonSampler;
    this.#state = state;
  }

  /** Throws EngineError `grammar-unusable`. */
  static async open(gbnf: string, deps: GrammarDeps): Promise<GrammarState> {
    const { llama, model, watchdog, call } = deps;
    const problem = grammarProblem(gbnf);
    if (problem !== undefined) throw new EngineError('grammar-unusable', `the grammar is rejected: ${problem}`);
    try {
      // The promise resolves at once: the native code runs synchronously within the step.
      const grammar = await watchdog.step(call, () => llama.createGrammar({ grammar: gbnf }));
      const { _state } = watchdog.step(
        call,
        () => new LlamaGrammarEvaluationState({ model, grammar }) as unknown as { readonly _state: object },
      );
      return new GrammarState(deps, _state);
    } catch (cause) {
      throw new EngineError('grammar-unusable', 'the engine cannot read the grammar of this answer', { cause });
    }
  }

  /** Throws EngineError `grammar-unusable` when the time budget is used up. */
  allows(token: number): boolean {
    return this.#step(() => this.#sampler.canBeNextTokenForGrammarEvaluationState(this.#state, token));
  }

  /** Throws EngineError `grammar-unusable` for a token that is not allowed: the native state would silently reset. */
  accept(token: number): void {
    if (!this.allows(token)) throw new EngineError('grammar-unusable', `token ${token} violates the grammar`);
    this.#step(() => this.#sampler.acceptGrammarEvaluationStateToken(this.#state, token));
    this.#leftMs += MAX_MS_PER_TOKEN;
  }

  #step<T>(run: () => T): T {
    if (this.#leftMs < 0) throw new EngineError('grammar-unusable', 'the grammar of this answer takes too much time');
    const begunMs = performance.now();
    try {
      return this.#deps.watchdog.step(this.#deps.call, run);
    } finally {
      this.#leftMs -= performance.now() - begunMs;
    }
  }
}
