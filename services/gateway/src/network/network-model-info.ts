// A model of the network as the gateway serves it: text by the vocabulary file that was opened, the rest as its workers say.
import type { ModelInfo, VocabularyFacts } from '@strata/engine';
import { MAX_TOKENS, type ModelGroup } from '@strata/inference';

/** With the slots that its workers have together, and no larger a context than a request may ask for. */
export function networkModelInfo({ sha256, model }: ModelGroup, facts: VocabularyFacts, slots: number): ModelInfo {
  return { ...model, ...facts, sha256, slots, contextLength: Math.min(model.contextLength, MAX_TOKENS) };
}
