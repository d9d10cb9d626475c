// Where an answer stands in its grammar: which token may come, and that one came. Given tokens can be replayed through it.
import { grammarProblem } from '@strata/inference';
import { type Llama, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import { EngineError } from '../engine.ts';
import type { GrammarWatch } from '../process/grammar-watchdog.ts';

/**
 * The two calls are not public in node-llama-cpp (its version is pinned, and a test replays a grammar): it accepts a token
 * only while it samples one, and an answer that is continued elsewhere has tokens that were sampled by another.
 */
interface SamplerBinding {
  canBeNextTokenForGrammarEvaluationState(state: object, token: number): boolean;
  acceptGrammarEvaluationStateToken(state: object, token: number): void;
}

interface GrammarDeps {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly watch: GrammarWatch;
  /** Number of the call that it is for. */
  readonly call: number;
}

/** What one grammar may take of the engine's time, in which nobody else has an answer: at first, and more for each token. */
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
    const { llama, model, watch, call } = deps;
    const problem = grammarProblem(gbnf);
    if (problem !== undefined) throw new EngineError('grammar-unusable', `the grammar is not opened: ${problem}`);
    try {
      // What it awaits is there already: the native code runs within the step.
      const grammar = await watch.step(call, () => llama.createGrammar({ grammar: gbnf }));
      const { _state } = watch.step(
        call,
        () => new LlamaGrammarEvaluationState({ model, grammar }) as unknown as { readonly _state: object },
      );
      return new GrammarState(deps, _state);
    } catch (cause) {
      throw new EngineError('grammar-unusable', 'the engine cannot read the grammar of this answer', { cause });
    }
  }

  /** Throws EngineError `grammar-unusable` when it has taken too much time. */
  allows(token: number): boolean {
    return this.#step(() => this.#sampler.canBeNextTokenForGrammarEvaluationState(this.#state, token));
  }

  /** Throws EngineError `grammar-unusable` for one that may not come: it would begin anew, and nobody would know. */
  accept(token: number): void {
    if (!this.allows(token)) throw new EngineError('grammar-unusable', `token ${token} is against the grammar`);
    this.#step(() => this.#sampler.acceptGrammarEvaluationStateToken(this.#state, token));
    this.#leftMs += MAX_MS_PER_TOKEN;
  }

  #step<T>(run: () => T): T {
    if (this.#leftMs < 0) throw new EngineError('grammar-unusable', 'the grammar of this answer takes too much time');
    const begunMs = performance.now();
    try {
      return this.#deps.watch.step(this.#deps.call, run);
    } finally {
      this.#leftMs -= performance.now() - begunMs;
    }
  }
}
