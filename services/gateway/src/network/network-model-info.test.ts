// What is served of a model of the network: its text by its vocabulary file alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelGroups, type OfferedModel } from '@strata/inference';
import { networkModelInfo } from './network-model-info.ts';

const offered = (given: Partial<OfferedModel> = {}): OfferedModel => ({
  ...{ name: 'm', sha256: 'a'.repeat(64), vocabularySha256: 'b'.repeat(64), templateSha256: 'c'.repeat(64) },
  ...{ architecture: 'llama', quantisation: 'F16', sizeBytes: 1, parameters: 1, contextLength: 4_096 },
  ...{ vocabularySize: 32_000, longestToken: 16, slots: 2, prefillTokensPerSecond: 1, decodeTokensPerSecond: 1 },
  ...{ engine: 'e', ...given },
});
const facts = { vocabularySize: 32_000, longestToken: 16, hasChatTemplate: true };
const infoOf = (offers: Readonly<Record<string, OfferedModel>>) => {
  const workers = Object.entries(offers).map(([peer, model]) => ({ peer, offer: { models: [model] } }));
  const [group] = modelGroups(workers, { weigh: () => 0.5 });
  return group && networkModelInfo(group, facts, 4);
};

describe('a model of the network', () => {
  it('is what its file says, however many workers say otherwise', () => {
    const lie = offered({ vocabularySize: 1, longestToken: 1, contextLength: 1, templateSha256: 'd'.repeat(64) });
    const info = infoOf({ liar: lie, honest: offered(), another: lie, third: lie });
    assert.deepEqual(info, { ...infoOf({ honest: offered() }) });
    assert.deepEqual([info?.vocabularySize, info?.longestToken, info?.contextLength], [32_000, 16, 4_096]);
  });

  it('has no larger a context than can be asked for', () => {
    assert.equal(infoOf({ large: offered({ contextLength: 100_000_000 }) })?.contextLength, 1_000_000);
  });
});
