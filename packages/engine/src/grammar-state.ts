// Where an answer stands in its grammar: which token may come, and that one came. Given tokens can be replayed through it.
import { type Llama, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import { EngineError } from './engine.ts';

/**
 * The two calls are not public in node-llama-cpp (its version is pinned, and a test replays a grammar): it accepts a token
 * only while it samples one, and an answer that is continued elsewhere has tokens that were sampled by another.
 */
interface SamplerBinding {
  canBeNextTokenForGrammarEvaluationState(state: object, token: number): boolean;
  acceptGrammarEvaluationStateToken(state: object, token: number): void;
}

export class GrammarState {
  readonly #sampler: SamplerBinding;
  readonly #state: object;

  private constructor(sampler: SamplerBinding, state: object) {
    this.#sampler = sampler;
    this.#state = state;
  }

  /** Throws EngineError `grammar-unusable`. */
  static async open(llama: Llama, model: LlamaModel, gbnf: string): Promise<GrammarState> {
    try {
      const grammar = await llama.createGrammar({ grammar: gbnf });
      const { _state } = new LlamaGrammarEvaluationState({ model, grammar }) as unknown as { readonly _state: object };
      const { _bindings } = llama as unknown as { readonly _bindings: { readonly AddonSampler: SamplerBinding } };
      return new GrammarState(_bindings.AddonSampler, _state);
    } catch (cause) {
      throw new EngineError('grammar-unusable', 'the engine cannot read the grammar of this answer', { cause });
    }
  }

  allows(token: number): boolean {
    return this.#sampler.canBeNextTokenForGrammarEvaluationState(this.#state, token);
  }

  /** Throws EngineError `grammar-unusable` for one that may not come: it would begin anew, and nobody would know. */
  accept(token: number): void {
    if (!this.allows(token)) throw new EngineError('grammar-unusable', `token ${token} is against the grammar`);
    this.#sampler.acceptGrammarEvaluationStateToken(this.#state, token);
  }
}
