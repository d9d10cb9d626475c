// The model that this machine lends, and how an offer tells of it.
import type { Engine, Speed, VocabularyFile } from '@strata/engine';
import type { OfferedModel } from '@strata/inference';

export interface LentModel {
  readonly name: string;
  readonly engine: Engine;
  /** What gateways need to read and write its tokens. */
  readonly vocabulary: VocabularyFile;
  /** As it is just now: offers tell it anew. */
  readonly speed: Speed;
}

export function offeredModel({ name, engine: { info }, vocabulary, speed }: LentModel): OfferedModel {
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
  };
}
