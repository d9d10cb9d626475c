// Offers for tests: right in every field that is not given.
import type { Offer, OfferedModel } from '../network/frame.ts';

export function offeredModel(given: Partial<OfferedModel> = {}): OfferedModel {
  return {
    ...{ name: 'small-chat', sha256: 'aa'.repeat(32), vocabularySha256: 'bb'.repeat(32) },
    ...{ templateSha256: 'cc'.repeat(32), architecture: 'llama', quantisation: 'Q8_0', engine: 'llama.cpp' },
    ...{ sizeBytes: 1_000_000, parameters: 2_000_000, contextLength: 4_096, vocabularySize: 32_000 },
    ...{ longestToken: 32, slots: 4, prefillTokensPerSecond: 500, decodeTokensPerSecond: 50 },
    ...given,
  };
}

/** Issued now, for two minutes. */
export function offerOf(peer: string, given: Partial<Offer>, nowMs: number): Offer {
  const times = { sequence: 1, issuedAtMs: nowMs, expiresAtMs: nowMs + 120_000 };
  return { peer, ...times, software: 'strata', models: [offeredModel()], running: 0, waiting: 0, ...given };
}
