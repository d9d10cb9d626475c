// Validates a vocabulary from an untrusted worker: llama.cpp also tokenizes with a corrupt file.
import { EngineError, type Vocabulary, type VocabularyFacts } from '@strata/engine';

const PROBE = 'The quick brown fox, 0123456789; ÄÖÜ 東京 🦊\n';

/** Rejects with EngineError `model-unusable`, or with the vocabulary's error if it cannot be opened. */
export async function checkVocabulary(vocabulary: Vocabulary, facts: VocabularyFacts): Promise<void> {
  assertTokens(await vocabulary.tokenize(PROBE), facts, 'a text');
  if (!facts.hasChatTemplate) return;
  const prompt = await vocabulary.render({ messages: [{ role: 'user', content: PROBE }], tools: [] });
  assertTokens(prompt, facts, 'a conversation');
}

function assertTokens(tokens: readonly number[], { vocabularySize, longestToken }: VocabularyFacts, what: string) {
  if (tokens.length * longestToken < Buffer.byteLength(PROBE))
    throw new EngineError('model-unusable', `the vocabulary produces too few tokens from ${what}: ${tokens.length}`);
  const outside = tokens.find((token) => token >= vocabularySize);
  if (outside !== undefined)
    throw new EngineError(
      'model-unusable',
      `the vocabulary has a token ${outside} outside its size of ${vocabularySize}`,
    );
}
