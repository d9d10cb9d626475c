// A model file without its weights: a GGUF of its vocabulary and template and no tensors. It is all that is needed to read and
// write tokens, small enough to be sent to whoever wants to.
import { createHash } from 'node:crypto';
import { EngineError } from '../engine.ts';
import { type MetadataEntry, readMetadata } from './gguf-metadata.ts';

export interface VocabularyFile {
  /** A valid GGUF: metadata of the model file, and no tensors. The same file gives the same bytes. */
  readonly bytes: Uint8Array;
  /** Hex SHA-256 of those bytes. */
  readonly sha256: string;
  /** Hex SHA-256 of the chat template's UTF-8; of no bytes where there is none. */
  readonly templateSha256: string;
}

/** What the file itself says of its model: nobody who offers it has to be believed. */
export interface VocabularyFacts {
  readonly vocabularySize: number;
  /** Bytes of the longest token as it is spelled, which are never fewer than those of its text. */
  readonly longestToken: number;
  readonly hasChatTemplate: boolean;
}

const TEMPLATE = 'tokenizer.chat_template';
const TOKENS = 'tokenizer.ggml.tokens';
const ARCHITECTURE = 'general.architecture';

/**
 * Reads it out of a model file, or out of the first part of one that is split. Rejects with EngineError `model-unusable`.
 *
 * Left out is what says nothing of text: how the file is split (a loader would look for the parts), how its weights were
 * quantised, and by whom, from what and under which title it was made. So all quantisations of a model have one vocabulary.
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

/** Reads them out of a vocabulary file or a model file. Rejects with EngineError `model-unusable`. */
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
  if (!entry(ARCHITECTURE)?.text) throw new EngineError('model-unusable', `${file} does not say what model it is`);
  if (!entry(TOKENS)?.length)
    throw new EngineError('model-unusable', `${file} has no vocabulary; of a split model it is in the first part`);
  return { entries, entry };
}

function isKept({ key }: MetadataEntry): boolean {
  return key === ARCHITECTURE || !/^(general|split|quantize)\./.test(key);
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');
