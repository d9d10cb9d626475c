// A model that this worker contributes, and its description in offers.
import type { Engine, FileTree, Speed, VocabularyFile } from '@strata/engine';
import type { OfferedModel } from '@strata/inference';

export interface ContributedModel {
  readonly name: string;
  /** May be loaded on demand. */
  readonly engine: Engine;
  /** The vocabulary that gateways need to convert between text and tokens. */
  readonly vocabulary: VocabularyFile;
  /** Proves chunks of the file; undefined for an engine without a file. */
  readonly tree?: FileTree;
  /** The current speed, 0 if unknown; each offer reports it again. */
  readonly speed: Speed;
}

export function offeredModel({ name, engine, vocabulary, tree, speed }: ContributedModel): OfferedModel {
  const { info, isLoaded } = engine;
  return {
    name,
    sha256: info.sha256,
    vocabularySha256: vocabulary.sha256,
    templateSha256: vocabulary.templateSha256,
    architecture: info.architecture,
    quantisation: info.quantisation,
    sizeBytes: info.sizeBytes,
    parameters: info.parameters,
    contextLength: info.contextLength,
    vocabularySize: info.vocabularySize,
    longestToken: info.longestToken,
    slots: info.slots,
    prefillTokensPerSecond: speed.prefill,
    decodeTokensPerSecond: speed.decode,
    engine: info.engine,
    ...(tree ? { fileTreeSha256: tree.digest } : {}),
    ...(isLoaded === false ? { loadMs: expectedLoadMs(info.sizeBytes) } : {}),
  };
}

/** A process starts in about a second; its file is read at 1 GB/s. */
const expectedLoadMs = (sizeBytes: number): number => Math.ceil(1_000 + sizeBytes / 1e6);
