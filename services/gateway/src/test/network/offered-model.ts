// A model as a worker offers it.
import type { OfferedModel } from '@strata/inference';

export const offeredModel = (given: Partial<OfferedModel> = {}): OfferedModel => ({
  ...{ name: 'm', sha256: 'a'.repeat(64), vocabularySha256: 'b'.repeat(64), templateSha256: 'c'.repeat(64) },
  ...{ architecture: 'llama', quantisation: 'F16', sizeBytes: 1, parameters: 1, contextLength: 4_096 },
  ...{ vocabularySize: 32_000, longestToken: 16, slots: 4, engine: 'e' },
  ...{ prefillTokensPerSecond: 1_000, decodeTokensPerSecond: 50, ...given },
});
