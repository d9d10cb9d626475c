// A model of the network as the gateway serves it: text by the vocabulary file that was opened, the rest as its workers say.
import type { ModelInfo, VocabularyFacts } from '@strata/engine';
import type { ModelGroup } from '@strata/inference';

/** A request asks for no more tokens than this (MOST_TOKENS of the protocol). */
const MOST_CONTEXT = 1_000_000;

/** With the slots that its workers have together. */
export function networkModelInfo({ sha256, model }: ModelGroup, facts: VocabularyFacts, slots: number): ModelInfo {
  return { ...model, ...facts, sha256, slots, contextLength: Math.min(model.contextLength, MOST_CONTEXT) };
}
