// Whether a vocabulary that was opened can be one: it is a stranger's file, and llama.cpp reads text by one that is broken, too.
import { EngineError, type Vocabulary, type VocabularyFacts } from '@strata/engine';

const PROBE = 'The quick brown fox, 0123456789; ÄÖÜ 東京 🦊\n';

/** Rejects with EngineError `model-unusable`, and as the vocabulary does where it cannot be opened. */
export async function checkVocabulary(vocabulary: Vocabulary, facts: VocabularyFacts): Promise<void> {
  assertTokens(await vocabulary.tokenize(PROBE), facts, 'a text');
  if (!facts.hasChatTemplate) return;
  const prompt = await vocabulary.render({ messages: [{ role: 'user', content: PROBE }], tools: [] });
  assertTokens(prompt, facts, 'a conversation');
}

function assertTokens(tokens: readonly number[], { vocabularySize, longestToken }: VocabularyFacts, what: string) {
  if (tokens.length * longestToken < Buffer.byteLength(PROBE))
    throw new EngineError(
      'model-unusable',
      `the vocabulary makes ${tokens.length} tokens of ${what}, which is too few`,
    );
  const beyond = tokens.find((token) => token >= vocabularySize);
  if (beyond !== undefined)
    throw new EngineError('model-unusable', `the vocabulary has a token ${beyond} beyond its ${vocabularySize}`);
}
