// A model file without its weights: a GGUF of vocabulary and template without tensors. It is all that tokenizing and
// rendering need, and small enough to be sent to other nodes.
import { createHash } from 'node:crypto';
import { EngineError } from '../engine.ts';
import { type MetadataEntry, readMetadata } from './gguf-metadata.ts';

export interface VocabularyFile {
  /** A valid GGUF: metadata of the model file, no tensors. The same file gives the same bytes. */
  readonly bytes: Uint8Array;
  /** Hex SHA-256 of those bytes. */
  readonly sha256: string;
  /** Hex SHA-256 of the chat template's UTF-8; of the empty string without a template. */
  readonly templateSha256: string;
}

/** Facts read from the file itself, so that no claim of its sender has to be trusted. */
export interface VocabularyFacts {
  readonly vocabularySize: number;
  /** Bytes of the longest token as spelled, which is at least the length of its text. */
  readonly longestToken: number;
  readonly hasChatTemplate: boolean;
}

const TEMPLATE = 'tokenizer.chat_template';
const TOKENS = 'tokenizer.ggml.tokens';
const ARCHITECTURE = 'general.architecture';

/**
 * Extracts the vocabulary of a model file, or of the first part of a split one. Rejects with EngineError
 * `model-unusable`.
 *
 * Omits keys that do not affect text: how the file is split (a loader would search for the parts), how the weights were
 * quantised, and the origin and title of the model. All quantisations of a model therefore share one vocabulary.
 */
export async function readVocabulary(file: string): Promise<VocabularyFile> {
  const { entries, entry } = await readEntries(file);
  const kept = entries.filter(isKept);
  const head = new DataView(new ArrayBuffer(24));
  head.setUint32(0, 0x47475546);
  head.setUint32(4, 3, true);
  head.setBigUint64(16, BigInt(kept.length), true);
  const bytes = Buffer.concat([new Uint8Array(head.buffer), ...kept.map((each) => each.bytes)]);
  return { bytes, sha256: sha256(bytes), templateSha256: sha256(entry(TEMPLATE)?.text ?? '') };
}

/** Reads the facts of a vocabulary file or a model file. Rejects with EngineError `model-unusable`. */
export async function readVocabularyFacts(file: string): Promise<VocabularyFacts> {
  const { entry } = await readEntries(file);
  const tokens = entry(TOKENS);
  return {
    vocabularySize: tokens?.length ?? 0,
    longestToken: Math.max(1, tokens?.longest ?? 0),
    hasChatTemplate: (entry(TEMPLATE)?.text ?? '') !== '',
  };
}

async function readEntries(file: string) {
  const entries = await readMetadata(file);
  const entry = (key: string) => entries.find((each) => each.key === key);
  if (!entry(ARCHITECTURE)?.text) throw new EngineError('model-unusable', `${file} does not name its architecture`);
  if (!entry(TOKENS)?.length)
    throw new EngineError('model-unusable', `${file} has no vocabulary; in a split model the first part has it`);
  return { entries, entry };
}

function isKept({ key }: MetadataEntry): boolean {
  return key === ARCHITECTURE || !/^(general|split|quantize)\./.test(key);
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');
