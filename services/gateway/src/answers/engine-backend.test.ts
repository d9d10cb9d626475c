import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createSimulatedEngine } from '@strata/testnet';
import { EngineBackend } from './engine-backend.ts';

it('a client that leaves aborts the load of a model for its embeddings, and no vector of a loaded one', async () => {
  for (const isLoaded of [false, true]) {
    const embed = async (_: unknown, signal: AbortSignal) => Float32Array.of(Number(signal.aborted));
    const { parts } = await new EngineBackend({ ...createSimulatedEngine(), isLoaded, embed }).planEmbeddings([[1]]);
    const [vector] = (await parts[0]?.({ promptTokens: 0 }, AbortSignal.abort())) ?? [];
    assert.deepEqual(vector, Float32Array.of(Number(!isLoaded)));
  }
});
