import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EngineError } from '@strata/engine';
import { readCompletionRequest } from '@strata/inference';
import { createSimulatedEngine } from '@strata/testnet';
import { asRefusal } from '../routes/error-response.ts';
import { EngineBackend } from './engine-backend.ts';

it('a client that leaves aborts the load of a model for its embeddings, and no vector of a loaded one', async () => {
  for (const isLoaded of [false, true]) {
    const embed = async (_: unknown, signal: AbortSignal) => Float32Array.of(Number(signal.aborted));
    const { parts } = await new EngineBackend({ ...createSimulatedEngine(), isLoaded, embed }).planEmbeddings([[1]]);
    const [vector] = (await parts[0]?.({ promptTokens: 0 }, AbortSignal.abort())) ?? [];
    assert.deepEqual(vector, Float32Array.of(Number(!isLoaded)));
  }
});

it('embeddings that never fit into the memory are refused without a time to retry', () => {
  const { status, param, retryAfterMs } = asRefusal(new EngineError('vectors-too-large', 'why'));
  assert.deepEqual([status, param, retryAfterMs], [400, 'model', undefined]);
});

it('a pinned model is unavailable until a worker has proved it', () => {
  const unavailable = (['claimed', 'pinned'] as const).map((level) => {
    const proof = { verified: () => ({ level, reason: 'why' }), isPinned: true };
    return new EngineBackend(createSimulatedEngine(), proof).unavailable;
  });
  assert.deepEqual(unavailable, ['it is pinned, and no worker has proved it: why', undefined]);
});

it('a prompt may leave one token for its answer, and not none', async () => {
  const { info, ...engine } = createSimulatedEngine();
  const backend = new EngineBackend({ ...engine, info: { ...info, contextLength: 4 } });
  const plan = (prompt: number[]) => backend.planText(readCompletionRequest({ model: 'm', prompt }));
  assert.deepEqual([(await plan([1, 2, 3])).answerTokens, (await plan([1, 2])).answerTokens], [1, 2]);
  await assert.rejects(plan([1, 2, 3, 4]), { name: 'CompletionError', kind: 'context_length' });
});
