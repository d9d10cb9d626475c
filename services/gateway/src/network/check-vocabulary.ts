// Whether a vocabulary can be that of the model that a worker offers with it: what is wrong here, no honest worker offers.
import { hash } from 'node:crypto';
import type { Vocabulary } from '@strata/engine';
import type { OfferedModel } from '@strata/inference';

/** The vocabulary is not that of the offer. */
export class VocabularyLieError extends Error {
  override readonly name = 'VocabularyLieError';
}

const PROBE = 'The quick brown fox, 0123456789; ÄÖÜ 東京 🦊\n';
const NO_TEMPLATE = hash('sha256', '');

export const hasChatTemplate = ({ templateSha256 }: OfferedModel): boolean => templateSha256 !== NO_TEMPLATE;

/** Rejects with VocabularyLieError, and as the vocabulary does where it cannot be opened. */
export async function checkVocabulary(vocabulary: Vocabulary, model: OfferedModel): Promise<void> {
  assertTokens(await vocabulary.tokenize(PROBE), model, 'a text');
  if (!hasChatTemplate(model)) return;
  const prompt = await vocabulary.render({ messages: [{ role: 'user', content: PROBE }], tools: [] });
  assertTokens(prompt, model, 'a conversation');
}

function assertTokens(tokens: readonly number[], { vocabularySize, longestToken }: OfferedModel, what: string): void {
  if (tokens.length * longestToken < Buffer.byteLength(PROBE))
    throw new VocabularyLieError(`the vocabulary makes ${tokens.length} tokens of ${what}, which is too few`);
  const beyond = tokens.find((token) => token >= vocabularySize);
  if (beyond !== undefined)
    throw new VocabularyLieError(`the vocabulary has a token ${beyond}, and should have ${vocabularySize}`);
}
