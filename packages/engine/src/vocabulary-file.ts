// A model file without its weights: a GGUF of the same metadata and no tensors. It is all that is needed to read and write tokens.
import { EngineError, type Vocabulary } from './engine.ts';

export interface VocabularyFile {
  /** A valid GGUF: header and metadata of the model file, and no tensors. */
  readonly bytes: Uint8Array;
  /** Hex SHA-256 of those bytes. */
  readonly sha256: string;
  /** Hex SHA-256 of the chat template's UTF-8; of no bytes where there is none. */
  readonly templateSha256: string;
}

/** Reads it out of a model file. Rejects with EngineError `model-unusable`. */
export async function readVocabulary(file: string): Promise<VocabularyFile> {
  throw new EngineError('model-unusable', `not yet: ${file}`);
}

/** Tokens and text by a vocabulary file, or by a model file whose weights are not loaded; in a process of its own. */
export async function openVocabulary(file: string): Promise<Vocabulary & AsyncDisposable> {
  throw new EngineError('model-unusable', `not yet: ${file}`);
}
